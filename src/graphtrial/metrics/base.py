"""Base class and registry of metrics."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar, Literal

import torch
from torch import Tensor

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.registry import Registry, is_subclass

OutputType = Literal["real", "class", "binary", "pair", "ranking"]
"""Type of a task's outputs, which fixes the shapes of predictions and target that a metric is computed from.

| type | predictions | target |
|---|---|---|
| real | [examples, targets] | [examples, targets], NaN where missing |
| class | logits [examples, classes] | class indices [examples] |
| binary | logits [examples, targets] | [examples, targets] of 0 and 1, NaN where missing |
| pair | logits [pairs, 1] | [pairs, 1], 1 for a link |
| ranking | logits [pairs, 1] | integers [pairs, 3]: 1 for a link, its query, and the graph of the query |
"""

METRICS: Registry[type[Metric]] = Registry(
    "metric",
    "graphtrial.metrics",
    fits=lambda thing: is_subclass(thing, Metric),
    wanted="a subclass of graphtrial.Metric",
    declared=("name", "title", "higher_is_better", "range", "output_types"),
)


class Metric(ABC):
    """Base class of metrics.

    A metric is computed once from the predictions of all examples of a split, never as a mean of batch means. Missing
    labels (NaN) are masked in each target column, and columns are averaged with equal weight.
    """

    name: ClassVar[str]
    title: str
    """Name in tables and stored results, as papers print it."""
    higher_is_better: ClassVar[bool]
    range: ClassVar[tuple[float, float]]
    """Lowest and highest possible value; bounds the confidence intervals."""
    unit: ClassVar[str]
    """`%`, `fraction`, or the unit of the target."""
    output_types: ClassVar[tuple[OutputType, ...]]
    two_classes: ClassVar[bool] = False
    """Of class outputs, only two classes are supported; class 1 is the positive one."""

    @abstractmethod
    def compute(self, predictions: Tensor, target: Tensor) -> float:
        """Return the metric over all examples; the shapes are those of `OutputType`."""

    def defined_columns(self, target: Tensor) -> Tensor:
        """Return for each column of the target [examples, columns] whether its labels define the metric."""
        return (~torch.isnan(target)).any(dim=0)

    def chance(self, classes: int) -> float | None:
        """Return the expected score of a uniform guess among `classes`, if it does not depend on the data."""
        return None

    def check_outputs(self, output_type: OutputType, outputs: int, task: str) -> None:
        """Raise an error if the metric is not defined for the outputs of a task."""
        fits = output_type in self.output_types
        if not fits or (output_type == "class" and self.two_classes and outputs != 2):
            names = [
                name
                for name, kind in METRICS.contents().things.items()
                if output_type in kind.output_types and not (output_type == "class" and kind.two_classes)
            ]
            needed = " with more or fewer than 2 classes" if fits else ""
            raise GraphTrialError(f"metric '{self.name}' is not defined for {task}{needed}; choose {', '.join(names)}")


def make_metric(text: str) -> Metric:
    """Build a metric from its name, such as `mae` or, with an argument, `hits@50`."""
    name, at, argument = text.partition("@")
    kind = METRICS.get(name)
    if not at:
        return kind()
    if not argument.isdecimal():
        raise GraphTrialError(f"metric '{text}': an integer follows the @, as in hits@50")
    try:
        return kind(int(argument))  # type: ignore[call-arg]
    except TypeError:
        raise GraphTrialError(f"metric '{text}': '{name}' takes no number") from None


def metric_range(title: str) -> tuple[float, float]:
    """Return the lowest and highest value of a metric by its title, such as 0 and 100 for Hits@50.

    Unbounded for a title that no registered metric has, as in stores of others.
    """
    for metric in METRICS.contents().things.values():
        if title.partition("@")[0] == metric.title.partition("@")[0]:
            return metric.range
    return -math.inf, math.inf


def mean_over_columns(values: list[float], subject: str) -> float:
    """Return the mean of a metric over the target columns on which it is defined; none is an error."""
    if not values:
        raise GraphTrialError(f"{subject} is undefined: {UNDEFINED}")
    return sum(values) / len(values)


UNDEFINED = "no target column has the labels it needs in this split"


def labelled_columns(predictions: Tensor, target: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Return predictions and target of each column [labelled examples], without columns that have no label."""
    mask = ~torch.isnan(target)
    return [(predictions[m, i], target[m, i]) for i, m in enumerate(mask.unbind(dim=1)) if bool(m.any())]
