"""Attention with clamped exponentials, against its equation entry by entry, and its gradients."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.layers import directed
from tests.helpers.samples import Graph, batch_of, random_graphs, vectors
from torch import Tensor

from graphtrial.ops import clamped_attention
from graphtrial.ops.clamped_attention import clamped_attention_reference
from graphtrial.ops.portable import portable_path
from graphtrial.ops.sparse_matrix import SparseMatrix, adjacency, virtual_membership
from graphtrial.ops.vector_paths import force_vectors

BOUND = 1.5
SHAPES = {
    "1 head": (1, 8),
    "2 heads": (2, 12),
    "4 heads": (4, 10),
    "8 heads": (8, 3),
    "wide": (4, 20),
    "no vectors": (3, 5),
}
PATHS = ("compiled", "without vectors", "portable")


def matrices(graphs: list[Graph]) -> dict[str, SparseMatrix]:
    batch = batch_of(graphs)
    members = virtual_membership(batch, 3)
    return {"edges": adjacency(batch), "to virtual nodes": members, "from virtual nodes": members.transpose()}


def operands(matrix: SparseMatrix, heads: int, size: int, edges: bool) -> list[Tensor]:
    rows, columns, entries = len(matrix.rowptr) - 1, len(matrix.colptr) - 1, len(matrix.col)
    counts = (rows, columns, columns, *([entries] if edges else []))
    return [vectors(count, heads * size, seed).view(count, heads, size) for seed, count in enumerate(counts)]


def entry_by_entry(matrix: SparseMatrix, query: Tensor, key: Tensor, value: Tensor, *edge: Tensor) -> list[Tensor]:
    out, norm = torch.zeros_like(query), query.new_zeros(query.shape[:2])
    for i, (first, last) in enumerate(zip(matrix.rowptr[:-1].tolist(), matrix.rowptr[1:].tolist(), strict=True)):
        for e in range(first, last):
            j = int(matrix.col[e])
            product = query[i] * key[j] * edge[0][e] if edge else query[i] * key[j]
            weight = torch.e ** product.sum(dim=1).clamp(-BOUND, BOUND)
            out = out.index_add(0, torch.tensor([i]), (weight.unsqueeze(1) * value[j]).unsqueeze(0))
            norm = norm.index_add(0, torch.tensor([i]), weight.unsqueeze(0))
    return [out, norm]


@directed
@pytest.mark.parametrize("edges", [False, True], ids=["without edge states", "with edge states"])
@pytest.mark.parametrize("shape", SHAPES)
def test_values_and_gradients_equal_the_equation(given: list[Graph], shape: str, edges: bool) -> None:
    for matrix in matrices(given).values():
        inputs = [x.requires_grad_() for x in operands(matrix, *SHAPES[shape], edges)]
        results = []
        for attend in (entry_by_entry, _operator):
            outputs = attend(matrix, *inputs)
            weights = [torch.linspace(-1, 1, out.numel(), dtype=out.dtype).view(out.shape) for out in outputs]
            loss = torch.stack([(out * weight).sum() for out, weight in zip(outputs, weights, strict=True)]).sum()
            grads = torch.autograd.grad(loss, inputs, allow_unused=True, materialize_grads=True)
            results.append([*outputs, *grads])
        torch.testing.assert_close(results[1], results[0])


@pytest.mark.parametrize("edges", [False, True])
def test_paths_agree(edges: bool) -> None:
    for matrix in matrices(random_graphs(8, 5, max_nodes=20)).values():
        results = []
        for path in PATHS:
            inputs = [x.requires_grad_() for x in operands(matrix, 4, 10, edges)]
            with portable_path(path == "portable"), force_vectors(path == "compiled"):
                out, norm = _operator(matrix, *inputs)
                grads = torch.autograd.grad((out * vectors(len(out), 40, 9).view_as(out)).sum(), inputs)
            results.append([out, norm, *grads])
        for result in results[1:]:
            torch.testing.assert_close(result, results[0])


@pytest.mark.parametrize("edges", [False, True])
def test_gradients_equal_finite_differences(edges: bool) -> None:
    matrix = matrices(random_graphs(3, 4))["edges"]
    inputs = tuple(x.requires_grad_() for x in operands(matrix, 2, 4, edges))
    assert torch.autograd.gradcheck(lambda *given: _operator(matrix, *given), inputs)


def test_logits_beyond_the_bound_have_no_gradient() -> None:
    matrix = adjacency(batch_of([(2, [(0, 1)])]))
    for factor, clamped in ((100.0, True), (1e-3, False)):
        query, key, value = (factor * torch.ones(2, 1, 8).requires_grad_() for _ in range(3))
        out, _ = clamped_attention(matrix, query, key, value, BOUND)
        (grad,) = torch.autograd.grad(out.sum(), query)
        assert (grad.abs().sum() == 0) == clamped


@pytest.mark.parametrize("path", PATHS)
def test_nan_reaches_the_rows_that_attend_to_it_and_no_other(path: str) -> None:
    matrix = adjacency(batch_of([(3, [(0, 1), (1, 2)])]))
    for spoilt in range(3):
        inputs = [torch.ones(3, 2, 8) for _ in range(3)]
        inputs[spoilt][0 if spoilt else 1] = torch.nan
        with portable_path(path == "portable"), force_vectors(path == "compiled"):
            out, norm = clamped_attention(matrix, *inputs, BOUND)
        assert out.isnan().flatten(1).any(dim=1).tolist() == [False, True, False]
        assert norm.isnan().any(dim=1).tolist() == [False, spoilt < 2, False]


def test_virtual_membership_links_each_virtual_node_to_the_nodes_of_its_graph() -> None:
    graphs: list[Graph] = [(2, []), (0, []), (3, [])]
    matrix = virtual_membership(batch_of(graphs), 2)
    rows = [matrix.col[first:last].tolist() for first, last in zip(matrix.rowptr, matrix.rowptr[1:], strict=False)]
    assert rows == [[0, 1], [0, 1], [], [], [2, 3, 4], [2, 3, 4]]
    columns = [matrix.row[first:last].tolist() for first, last in zip(matrix.colptr, matrix.colptr[1:], strict=False)]
    assert columns == [[0, 1], [0, 1], [4, 5], [4, 5], [4, 5]]
    assert matrix.csc_entries is not None
    assert torch.equal(matrix.col[matrix.csc_entries], matrix.csc_columns)


def _operator(matrix: SparseMatrix, query: Tensor, key: Tensor, value: Tensor, *edge: Tensor) -> list[Tensor]:
    return list(clamped_attention(matrix, query, key, value, BOUND, *edge))


def test_reference_is_the_path_of_heads_that_do_not_fill_vectors() -> None:
    matrix = matrices(random_graphs(2, 1))["edges"]
    inputs = operands(matrix, 3, 5, True)
    ours, theirs = (f(matrix, *inputs[:3], BOUND, inputs[3]) for f in (clamped_attention, clamped_attention_reference))
    assert all(torch.equal(*pair) for pair in zip(ours, theirs, strict=True))
