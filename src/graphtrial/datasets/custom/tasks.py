"""Tasks of custom datasets: written as `name` or `name:metric=...`, completed by the target column `y`."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.signatures import declared_arguments
from graphtrial.core.spec import Component
from graphtrial.graphs import GraphSet
from graphtrial.graphs.column import PAIR_COUNT, QUERY, Column
from graphtrial.tasks import TASKS, Task

LEVEL = {"graph-theory": "graph"}
"""Level of the column `y`, where it is not that of the task."""


def infer_task(graphs: GraphSet) -> str:
    """Infer the task from the targets.

    One integer from 0 per example is a class; values that are 0, 1 or missing are binary labels, of which there may be
    several (multi-label); other numbers are regressed. Labelled pairs of nodes are links, which are ranked in many
    graphs or where they have queries.
    """
    y = _target(graphs)
    if y.level == "pair":
        return "link-ranking" if {PAIR_COUNT, QUERY} & {*graphs.columns} else "link-prediction"
    if y.types is not None:
        return f"{y.level}-classification"
    values = np.asarray(y.values)
    if values.dtype.kind == "i" and y.width == 1 and values.size and values.min() < 0:
        raise GraphTrialError(
            f"the integers `y` go down to {values.min()}, but classes count from 0: give examples without a label any "
            f"class and leave them out of the masks, or regress the numbers by --task {y.level}-regression"
        )
    labelled = values[~np.isnan(values)]
    if not labelled.size or (labelled[0] in (0, 1) and (labelled == labelled[0]).all()):  # labels, or numbers?
        only = f"is {labelled[0]:g}" if labelled.size else "is missing"
        raise GraphTrialError(
            f"every target `y` {only}: there is nothing to learn; --task imports the data all the same"
        )
    binary = ((values == 0) | (values == 1) | np.isnan(values)).all() and (values == 0).any() and (values == 1).any()
    return f"{y.level}-{'binary-classification' if binary else 'regression'}"


def task_for(graphs: GraphSet, text: str) -> Task:
    """Build a task on these graphs, such as `node-classification:metric=f1-macro`.

    The numbers of classes and of targets are those of the column `y`.
    """
    y, name = _target(graphs), text.partition(":")[0]
    if name not in TASKS:
        choices = ", ".join(each for each in TASKS if each not in LEVEL)
        raise GraphTrialError(f"there is no task '{name}' for graphs of your own; choose one with --task: {choices}")
    level = LEVEL.get(name, TASKS.get(name).level)
    if y.level != level:
        raise GraphTrialError(f"{name} needs a target for each {level}, but `y` has one for each {y.level}")
    if TASKS.get(name).output_type == "class" and y.types is None:
        raise GraphTrialError(f"{name} needs classes, integers from 0, but `y` holds {y.values.dtype}")
    classes = y.types or 2
    return _build(text, {"classes": max(classes, 2) if name == "edge-classification" else classes, "targets": y.width})


def declared_task(text: str) -> Task:
    """Build a task with the fewest classes or targets possible, to be listed before its graphs are loaded."""
    return _build(text, {"classes": 2, "targets": 1})


def _build(text: str, outputs: dict[str, int]) -> Task:
    def given(kind: Any) -> dict[str, int]:
        return {name: count for name, count in outputs.items() if name in declared_arguments(kind)}

    component = Component.parse(text, TASKS.get, given)
    return TASKS.get(component.name)(**component.arguments)


def _target(graphs: GraphSet) -> Column:
    if "y" not in graphs.columns:
        raise GraphTrialError(
            "these graphs have no targets `y`, so that nothing can be learnt from them; an edge list takes them from "
            "--labels FILE, and --task link-prediction needs none"
        )
    return graphs.column("y")
