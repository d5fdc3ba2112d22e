"""Contract of every registered metric."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from graphtrial.metrics import METRICS, Metric, OutputType

EXAMPLES = 60


def drawn(output_type: OutputType, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Return a target, the predictions that are right in every example, and random ones."""
    if output_type == "class":
        classes = 2  # which every metric of classes supports
        target = torch.randint(classes, (EXAMPLES,), generator=generator)
        perfect = 20.0 * torch.nn.functional.one_hot(target, classes)
        return target, perfect, torch.randn(EXAMPLES, classes, generator=generator)
    if output_type == "ranking":  # 15 queries of two graphs, each with a link first and three other pairs
        query = torch.arange(EXAMPLES) // 4
        linked = (torch.arange(EXAMPLES) % 4 == 0).long()
        target = torch.stack([linked, query, query % 2], dim=1)
        return target, 40.0 * linked[:, None] - 20.0, torch.randn(EXAMPLES, 1, generator=generator)
    columns = 1 if output_type == "pair" else 3
    random = torch.randn(EXAMPLES, columns, generator=generator)
    target = torch.randn(EXAMPLES, columns, generator=generator)
    if output_type == "real":
        return target, target.clone(), random
    target = (target > 0).float()
    return target, 40.0 * target - 20.0, random


CASES = [(name, kind) for name in METRICS.names() for kind in METRICS.get(name).output_types]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def case(request: pytest.FixtureRequest) -> tuple[Metric, OutputType]:
    name, output_type = request.param
    return METRICS.get(name)(), output_type


@pytest.fixture(params=range(3))
def generator(request: pytest.FixtureRequest) -> torch.Generator:
    return torch.Generator().manual_seed(request.param)


@pytest.mark.parametrize("name", METRICS.names())
def test_metadata_is_complete(name: str) -> None:
    metric = METRICS.get(name)()
    low, high = metric.range
    assert METRICS.get(metric.name) is type(metric)
    assert METRICS.title(name).partition("@")[0] == metric.title.partition("@")[0]
    assert low < high
    assert metric.unit
    assert (metric.unit == "%") == (high == 100.0)
    assert metric.higher_is_better == math.isfinite(high)
    assert (type(metric).__doc__ or "").strip()


def test_titles_are_unique() -> None:
    titles = [METRICS.get(name).title for name in METRICS.names()]
    assert len(set(titles)) == len(titles)


def test_perfect_prediction_has_the_best_score(case: tuple[Metric, OutputType], generator: torch.Generator) -> None:
    metric, output_type = case
    target, perfect, random = drawn(output_type, generator)
    best, score = metric.compute(perfect.float(), target), metric.compute(random, target)
    low, high = metric.range
    assert low <= score <= high
    if metric.higher_is_better:
        assert best == high
        assert score < best or metric.name == "hits"  # fewer than K negatives: everything is a hit
    else:
        assert best == low or math.isinf(low)
        assert score > best


def test_score_is_invariant_to_example_order(case: tuple[Metric, OutputType], generator: torch.Generator) -> None:
    metric, output_type = case
    target, _, random = drawn(output_type, generator)
    order = torch.randperm(EXAMPLES, generator=generator)
    assert metric.compute(random[order], target[order]) == pytest.approx(metric.compute(random, target), rel=1e-12)


def test_missing_labels_are_masked(case: tuple[Metric, OutputType], generator: torch.Generator) -> None:
    metric, output_type = case
    if output_type not in ("real", "binary"):
        pytest.skip("only columns of targets have missing labels")
    target, _, random = drawn(output_type, generator)
    masked = target.clone()
    masked[::3] = torch.nan
    there = torch.arange(EXAMPLES) % 3 != 0
    assert metric.compute(random, masked) == pytest.approx(metric.compute(random[there], target[there]), rel=1e-12)
