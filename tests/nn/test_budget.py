"""The width that spends a budget is the largest that fits."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
import torch
from tests.helpers.layers import WIDE_MODELS, accepted_settings, suited
from tests.helpers.sampling import rotating

from graphtrial.core.errors import GraphTrialError
from graphtrial.nn import Shapes, build_model, count_parameters, parse_budget, width_for_budget, width_step
from graphtrial.nn.shapes import EncodingShape

SHAPES = Shapes(outputs=1, level="graph", node_types=28, edge_types=4)
ENCODED = Shapes(outputs=10, level="graph", node_dim=3, edge_dim=2, encoding_dim=20, encoding_replaces=True)


def parameters(name: str, shapes: Shapes, settings: dict[str, Any], width: int) -> int:
    return count_parameters(build_model(name, shapes, {**settings, "width": width}))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "shapes"), rotating(WIDE_MODELS, [SHAPES, ENCODED]))
def test_width_is_the_largest_within_the_budget(name: str, shapes: Shapes, request: pytest.FixtureRequest) -> None:
    shapes = suited(name, shapes)
    depths = (2, 4, 16) if request.config.getoption("--long") else (4,)
    for layers in depths:  # a single layer from inputs to outputs has no width
        settings = accepted_settings(name, layers=layers)
        for budget in (5_000, 100_000, 500_000):
            if parameters(name, shapes, settings, max(4, width_step(name, {}))) > budget:
                with pytest.raises(GraphTrialError, match="even at width"):
                    width_for_budget(name, shapes, settings, budget)
                continue
            start = time.perf_counter()
            width = width_for_budget(name, shapes, settings, budget)
            print(f"{name}, {layers} layers, {budget}: width {width}, {time.perf_counter() - start:.3f} s")
            following = width + width_step(name, {})
            used, next_used = (parameters(name, shapes, settings, w) for w in (width, following))
            assert used <= budget < next_used


@pytest.mark.slow
@pytest.mark.parametrize("name", WIDE_MODELS)
def test_exact_budget_is_accepted(name: str) -> None:
    step, shapes = width_step(name, {}), suited(name, SHAPES)
    exact = parameters(name, shapes, {}, 33 * step)
    assert width_for_budget(name, shapes, {}, exact) == 33 * step
    assert width_for_budget(name, shapes, {}, exact - 1) == 32 * step


@pytest.mark.slow
def test_width_search_respects_other_settings() -> None:
    plain = width_for_budget("gatedgcn", SHAPES, {}, 20_000)
    assert width_for_budget("gatedgcn", SHAPES, {"batch_norm": False}, 20_000) >= plain
    assert width_for_budget("gatedgcn", SHAPES, {"layers": 8}, 20_000) < plain
    with pytest.raises(GraphTrialError, match=r"no setting 'layerz'\. Did you mean 'layers'\?"):
        width_for_budget("gatedgcn", SHAPES, {"layerz": 8}, 20_000)


def test_width_search_uses_no_random_numbers() -> None:
    before = torch.get_rng_state()
    width_for_budget("gin", SHAPES, {}, 100_000)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("name", WIDE_MODELS)
@pytest.mark.parametrize("budget", [10, 1])
def test_budget_too_small_for_any_width_raises(name: str, budget: int) -> None:
    with pytest.raises(
        GraphTrialError,
        match=f"model '{name}' has more than {budget} parameters even at width {max(4, width_step(name, {}))}",
    ):
        width_for_budget(name, suited(name, SHAPES), {}, budget)


@pytest.mark.parametrize(
    ("name", "encoding", "settings"),
    [
        ("gps", EncodingShape("random-walk", 20), {"position_width": 28}),
        ("san", EncodingShape("laplacian-pairs", 16), {"position_width": 8}),
        ("san", EncodingShape("laplacian-pairs", 16), {}),
        ("pna", None, {"narrowing": 5}),
        ("signnet", EncodingShape("laplacian", 8), {"base": "pna", "layers": 4}),
        ("signnet", EncodingShape("laplacian", 8), {"base": "transformer", "layers": 4}),
    ],
)
def test_widths_too_narrow_for_other_settings_are_passed_over(
    name: str, encoding: EncodingShape | None, settings: dict[str, Any]
) -> None:
    parts = (encoding,) if encoding else ()
    shapes = replace(SHAPES, encoding_dim=sum(part.width for part in parts), encodings=parts)
    width, step = width_for_budget(name, shapes, settings, 500_000), width_step(name, settings)
    assert parameters(name, shapes, settings, width) <= 500_000 < parameters(name, shapes, settings, width + step)


def test_a_setting_that_no_width_allows_is_the_error() -> None:
    with pytest.raises(GraphTrialError, match="local=gatedgcn or gine, or attention"):
        width_for_budget("gps", SHAPES, {"local": "none", "attention": "none"}, 500_000)


def test_budget_too_large_for_any_width_raises() -> None:
    with pytest.raises(GraphTrialError, match="needs a width above 65536; lower the budget"):
        width_for_budget("mlp", SHAPES, {}, 10**15)


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        *(("100k", 100_000), ("100K", 100_000), ("0.5M", 500_000), ("0.5m", 500_000), ("100000", 100_000)),
        *((" 40k ", 40_000), ("1", 1), ("2.5k", 2_500), ("0.1M", 100_000), ("1.0015k", 1002)),
    ],
)
def test_budgets_are_parsed(text: str, budget: int) -> None:
    assert parse_budget(text) == budget


@pytest.mark.parametrize(
    "text",
    ["abc", "", "0", "-5", "0k", "k", "1e5", "100kk", "1,000", "100 k", "1.", ".5M", "nan", "inf", "9" * 400, "0.0001"],
)
def test_invalid_budgets_raise(text: str) -> None:
    with pytest.raises(GraphTrialError, match="is not a parameter budget; write for example 100k"):
        parse_budget(text)
