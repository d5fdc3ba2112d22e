"""Memory of models on node pairs: computed again beyond a budget, refused beyond the machine."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.samples import NODE_TYPES, batch_of, random_graphs
from torch import Tensor, nn

from graphtrial.graphs.pairs.buckets import bucket_plan
from graphtrial.nn import Shapes, build_model
from graphtrial.nn.dense import checkpointing as checkpointing_module
from graphtrial.nn.dense.checkpointing import Checkpointing, MemoryNeeds, choose_checkpointing, maybe_checkpoint

SHAPES = Shapes(outputs=2, level="graph", node_types=NODE_TYPES)
GRAPHS = random_graphs(12, seed=0)
DENSE = ("3wl-gnn", "ringgnn")


def gradients(name: str) -> tuple[Tensor, dict[str, Tensor]]:
    torch.manual_seed(0)
    model: nn.Module = build_model(name, SHAPES, {"width": 8, "layers": 3, "dropout": 0.3}).double()
    torch.manual_seed(1)
    out = model(batch_of(GRAPHS))
    out.square().sum().backward()
    return out.detach(), {key: value.grad for key, value in model.named_parameters() if value.grad is not None}


@pytest.mark.parametrize("name", DENSE)
@pytest.mark.parametrize("budget", [0, 50_000])
def test_recomputation_is_bit_exact(name: str, budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = gradients(name)
    monkeypatch.setattr(checkpointing_module, "BUDGET", budget)
    actual = gradients(name)
    assert torch.equal(actual[0], expected[0])
    assert actual[1].keys() == expected[1].keys()
    for key, value in expected[1].items():
        torch.testing.assert_close(actual[1][key], value, rtol=1e-12, atol=1e-12)


def test_checkpointing_stores_arguments_only() -> None:
    saved: list[int] = []

    def layer(x: Tensor) -> Tensor:
        return (x.exp() * x.sin()).tanh()

    def count(tensor: Tensor) -> Tensor:
        saved.append(tensor.numel())
        return tensor

    x = torch.ones(1000, requires_grad=True)
    for recompute in (False, True):
        saved.clear()
        with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor):
            maybe_checkpoint(layer, x, recompute=recompute)
        assert sum(saved) <= 1000 if recompute else sum(saved) >= 4000


def test_memory_budget_selects_recomputed_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = bucket_plan(batch_of([(10, [])] * 8), 400, 0)  # two buckets of 400 pairs
    needs = MemoryNeeds(layers=2, saved=5, state=1, work=3)  # 13 numbers for a pair
    for budget, expected in (
        (800 * 13 * 4, Checkpointing()),
        (800 * 13 * 4 - 1, Checkpointing(buckets=True)),
        (400 * 13 * 4 - 1, Checkpointing(buckets=True, layers=True)),
    ):
        monkeypatch.setattr(checkpointing_module, "BUDGET", budget)
        assert choose_checkpointing(plan, needs, 4, 0) == expected
    with torch.no_grad():
        assert choose_checkpointing(plan, needs, 4, 0) == Checkpointing()


@pytest.mark.parametrize("name", DENSE)
def test_too_large_graph_raises_memory_error(name: str) -> None:
    model = build_model(name, SHAPES, {"width": 64})
    with pytest.raises(MemoryError, match=r"a graph of 100,000 nodes .* GiB"):
        model(batch_of([(3, []), (100_000, [])]))
    model(batch_of([(3, [])]))


def test_memory_estimate_is_reused(monkeypatch: pytest.MonkeyPatch) -> None:
    model = build_model("ringgnn", SHAPES, {"width": 8})
    model(batch_of([(9, [])]))
    monkeypatch.setattr(checkpointing_module, "available_bytes", lambda: 0)
    model(batch_of([(9, [])]))
    with pytest.raises(MemoryError):
        model(batch_of([(10, [])]))


def test_full_recomputation_needs_least_memory() -> None:
    needs = MemoryNeeds(layers=4, saved=7, state=1, work=6)
    assert needs.least(gradient=False) < needs.least(gradient=True) < needs.most()
    assert (needs.least(gradient=False), needs.least(gradient=True), needs.most()) == (11, 21, 34)
