"""Several aggregators in one pass, against PyG's scatter, and the gradients against finite differences."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from tests.helpers.layers import directed
from tests.helpers.samples import DEGENERATE, Graph, batch_of, random_graphs, vectors
from tests.helpers.sampling import rotating
from torch import Tensor
from torch_geometric.utils import scatter

from graphtrial.graphs import GraphBatch
from graphtrial.ops import multi_aggregate
from graphtrial.ops.multi_aggregate import STD_EPS
from graphtrial.ops.portable import portable_path

TOWERS, WIDTH = 3, 2
CHANNELS = TOWERS * WIDTH
PNA = ("mean", "max", "min", "std")
NAMES = (PNA, ("mean", "max", "min"), ("sum",), ("max",), ("std", "sum", "mean"), ("min", "mean"))


def scattered(graph: GraphBatch, sent: Tensor, own: Tensor, edge: Tensor | None, names: tuple[str, ...]) -> Tensor:
    source, target = graph.edge_index
    messages = sent[source] + own[target] + (0 if edge is None else edge)
    seen = graph.in_degree.clamp(max=1).unsqueeze(1)

    def reduce(values: Tensor, how: str) -> Tensor:
        return scatter(values, target, dim=0, dim_size=graph.num_nodes, reduce=how)

    def part(name: str) -> Tensor:
        if name != "std":
            return reduce(messages, name)
        variance = reduce(messages.square(), "mean") - reduce(messages, "mean").square()
        return (variance.relu() + STD_EPS).sqrt() * seen

    return torch.cat([part(name).view(-1, TOWERS, WIDTH) for name in names], dim=2).flatten(1)


def inputs(graph: GraphBatch, *, edges: bool) -> tuple[Tensor, Tensor, Tensor | None]:
    sent, own = (vectors(graph.num_nodes, CHANNELS, seed=seed).requires_grad_() for seed in (0, 1))
    return sent, own, vectors(graph.num_edges, CHANNELS, seed=2).requires_grad_() if edges else None


@directed
@pytest.mark.parametrize(("names", "edges", "portable"), rotating(NAMES, [False, True], [False, True]))
def test_values_and_gradients_equal_scatter(
    given: list[Graph], names: tuple[str, ...], edges: bool, portable: bool
) -> None:
    graph = batch_of(given)
    sent, own, edge = inputs(graph, edges=edges)
    with portable_path(portable):
        out = multi_aggregate(graph, sent, own, edge, names, TOWERS)
    expected = scattered(graph, sent, own, edge, names)
    torch.testing.assert_close(out, expected)
    leaves = [each for each in (sent, own, edge) if each is not None]
    weight = vectors(*out.shape, seed=3)
    ours = torch.autograd.grad((out * weight).sum(), leaves, allow_unused=True)
    theirs = torch.autograd.grad((expected * weight).sum(), leaves, allow_unused=True)
    for mine, their in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, torch.zeros_like(mine) if their is None else their)


@pytest.mark.parametrize("edges", [False, True])
def test_gradients_equal_finite_differences(edges: bool) -> None:
    graph = batch_of([*DEGENERATE, *random_graphs(3, seed=5)])
    sent, own, edge = inputs(graph, edges=edges)
    leaves = [each for each in (sent, own, edge) if each is not None]

    def function(*values: Tensor) -> Tensor:
        return multi_aggregate(graph, values[0], values[1], values[2] if edges else None, PNA, TOWERS)

    assert torch.autograd.gradcheck(function, leaves)


def test_the_first_of_equal_maxima_has_the_gradient() -> None:
    graph = batch_of([(4, [(0, 3), (1, 3), (2, 3)])])
    sent = torch.tensor([[1.0], [2.0], [2.0], [0.0]]).requires_grad_()
    out = multi_aggregate(graph, sent, torch.zeros(4, 1), None, ("max", "min"))
    (gradient,) = torch.autograd.grad(out[3, 0], sent)
    assert gradient.flatten().tolist() == [0, 1, 0, 0]


def test_neighbours_that_are_equal_have_no_gradient_of_the_standard_deviation() -> None:
    graph = batch_of([(3, [(0, 2), (1, 2)])])
    sent = torch.full((3, 1), 0.3).requires_grad_()
    out = multi_aggregate(graph, sent, torch.zeros(3, 1), None, ("mean", "std"))
    (gradient,) = torch.autograd.grad(out[2, 1], sent)
    assert out[2, 1].item() == pytest.approx(STD_EPS**0.5)
    assert gradient.flatten().tolist() == [0, 0, 0]


@pytest.mark.parametrize(("name", "nan"), list(product(["max", "min", "sum"], [0, 1, 2])))
def test_nan_is_kept(name: str, nan: int) -> None:
    graph = batch_of([(4, [(0, 3), (1, 3), (2, 3)])])
    sent = torch.tensor([[1.0], [3.0], [2.0], [0.0]])
    sent[nan] = float("nan")
    out = multi_aggregate(graph, sent, torch.zeros(4, 1), None, (name,))
    assert out.isnan().flatten().tolist() == [False, False, False, True]
