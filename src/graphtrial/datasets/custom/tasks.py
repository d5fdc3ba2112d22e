"""What can be asked about a set of graphs, as its target column tells."""

from __future__ import annotations

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphSet
from graphtrial.tasks import TASKS, Task

ARGUMENT = {
    "graph-classification": "classes",
    "node-classification": "classes",
    "balanced-node-classification": "classes",
    "graph-regression": "targets",
    "graph-theory": "targets",
    "edge-classification": None,
}
LEVEL = {"graph-theory": "graph"}


def task_for(graphs: GraphSet, wanted: str | None) -> Task:
    """Return the wanted task on these graphs, or the one their targets suggest: whole numbers are classes."""
    if "y" not in graphs.columns:
        raise GraphTrialError("these graphs have no targets `y`, so that nothing can be learnt from them")
    y = graphs.column("y")
    if wanted is None:
        is_class = y.types is not None
        wanted = f"{y.level}-{'classification' if is_class else 'regression'}"
    if wanted not in ARGUMENT:
        known = ", ".join(name for name in ARGUMENT if name != "graph-theory")
        raise GraphTrialError(f"there is no task '{wanted}' for graphs of your own; choose one with --task: {known}")
    level = LEVEL.get(wanted, wanted.removeprefix("balanced-").partition("-")[0])
    if y.level != level:
        raise GraphTrialError(f"{wanted} needs a target for each {level}, but `y` has one for each {y.level}")
    if "classification" in wanted and y.types is None:
        raise GraphTrialError(f"{wanted} needs classes, whole numbers from 0, but `y` holds {y.values.dtype}")
    argument = ARGUMENT[wanted]
    if argument is None:
        if y.types is not None and y.types > 2:
            raise GraphTrialError(f"{wanted} tells two classes apart; `y` has {y.types}")
        return TASKS.get(wanted)()
    return TASKS.get(wanted)(**{argument: y.types if argument == "classes" else y.width})


def task_named(name: str) -> Task:
    """Return a task of that name with as few classes or targets as there can be."""
    least = {"classes": 2, "targets": 1}
    argument = ARGUMENT.get(name)
    return TASKS.get(name)(**({argument: least[argument]} if argument else {}))
