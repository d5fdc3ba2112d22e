"""3WL-GNN's block against loops over pairs, and the operations it is made of."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.dense_oracles import bucket_of, channelwise_product, slow_product_block, state_with_ones
from tests.helpers.samples import DEGENERATE, EDGE_TYPES, NODE_TYPES, batch_of, random_graphs
from torch import Tensor

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs.pairs.buckets import bucket_plan
from graphtrial.nn.dense.augmented import affine, padded, with_ones
from graphtrial.nn.dense.autograd import multiply, spread
from graphtrial.nn.dense.pair_input import PairInput
from graphtrial.nn.dense.product_block import ProductBlock
from graphtrial.nn.shapes import Shapes

SIZES = [3, 1, 4]


def matrices(channels: int, seed: int = 0) -> list[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(channels, n, n, dtype=torch.float64, generator=generator) for n in SIZES]


def block(inputs: int, width: int, depth: int = 2, residual: bool = False) -> ProductBlock:
    torch.manual_seed(1)
    product = ProductBlock(inputs, width, depth=depth, residual=residual).double()
    with torch.no_grad():
        for parameter in product.parameters():
            parameter.add_(torch.randn_like(parameter) / 3)
    return product


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_block_equals_the_loop_on_graphs_of_mixed_sizes(depth: int, residual: bool) -> None:
    graphs, product, bucket = matrices(3), block(3, 5, depth, residual), bucket_of(SIZES)
    out = product(state_with_ones(graphs), bucket, product.weights())
    assert out.shape == (padded(5), bucket.pairs)
    assert (out[5] == 1).all()
    assert not out[6:].any()
    for at, h in enumerate(graphs):
        n = h.shape[-1]
        actual = out[:5].view(5, *bucket.sizes.shape, bucket.size, bucket.size)[:, at, :n, :n]
        torch.testing.assert_close(actual, slow_product_block(product, h))


def test_sparse_input_matches_dense_input() -> None:
    batch = batch_of([*DEGENERATE, *random_graphs(5, seed=1)])
    shapes = Shapes(outputs=1, level="graph", node_types=NODE_TYPES, edge_types=EDGE_TYPES)
    product = PairInput(shapes, edge_features=True)
    first = block(product.channels, 4, residual=True)
    for padding_cost in (0, 10**6):
        for entries in product.read(batch, bucket_plan(batch, 10**6, padding_cost), torch.float64):
            whole = first(with_ones(entries.dense().flatten(1)), entries.bucket, first.weights())
            torch.testing.assert_close(first(entries, entries.bucket, first.weights()), whole)


@pytest.mark.parametrize("sizes", [[3, 3], [2, 3]])
def test_product_is_channelwise_and_has_the_right_gradient(sizes: list[int]) -> None:
    bucket = bucket_of(sizes)
    paths = torch.randn(2, 3, bucket.pairs, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    out = multiply(paths, 2, bucket)
    left, right, actual = (rows.view(-1, bucket.graphs, bucket.size, bucket.size) for rows in (*paths, out))
    for at, n in enumerate(sizes):
        expected = channelwise_product(left[:2, at, :n, :n], right[:2, at, :n, :n])
        torch.testing.assert_close(actual[:2, at, :n, :n], expected)
    assert not actual[2].any()
    assert torch.autograd.gradcheck(lambda given: multiply(given, 2, bucket), (paths.requires_grad_(),))


def test_column_scatter_fills_every_pair() -> None:
    columns = torch.randn(2, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    at = torch.tensor([4, 0, 2])
    actual = spread(columns, at, 6)
    torch.testing.assert_close(actual, columns[:, [1, 3, 2, 3, 0, 3]])
    assert torch.autograd.gradcheck(lambda given: spread(given, at, 6), (columns,))


@pytest.mark.slow
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_backward_passes_gradcheck(depth: int) -> None:
    product, bucket = block(2, 2, depth, residual=True), bucket_of([2, 3])
    names = [name for name, _ in product.named_parameters()]
    h = state_with_ones([torch.randn(2, n, n, dtype=torch.float64) for n in (2, 3)]).requires_grad_()

    def run(h: Tensor, *parameters: Tensor) -> Tensor:
        swapped = {f"product.{name}": value for name, value in zip(names, parameters, strict=True)}
        return torch.func.functional_call(_Bound(product, bucket), swapped, h)

    def weighed(*arguments: Tensor) -> Tensor:
        out = run(*arguments)
        return (out * torch.linspace(1, 2, out.numel(), dtype=torch.float64).view_as(out)).sum()

    # A gradient that few pairs have, as from maxima, and one that all have, take different ways.
    assert torch.autograd.gradcheck(run, (h, *product.parameters()))
    assert torch.autograd.gradcheck(weighed, (h, *product.parameters()))


class _Bound(torch.nn.Module):
    def __init__(self, product: ProductBlock, bucket: object) -> None:
        super().__init__()
        self.product, self.bucket = product, bucket

    def forward(self, h: Tensor) -> Tensor:
        return self.product(h, self.bucket, self.product.weights())


def test_bias_is_a_column_of_the_augmented_weight() -> None:
    linear = torch.nn.Linear(3, 9).double()
    x = torch.randn(3, 7, dtype=torch.float64)
    actual = affine(linear.weight, linear.bias) @ with_ones(x)
    torch.testing.assert_close(actual, with_ones(linear(x.T).T))
    assert len(actual) == 16


def test_initialization_matches_the_reference() -> None:
    torch.manual_seed(0)
    product = ProductBlock(40, 60, depth=2, residual=False)
    bound = (6 / 100) ** 0.5
    assert 0.99 * bound < product.left[0].weight.abs().max().item() <= bound
    assert 0.99 * (6 / 160) ** 0.5 < product.skip.weight.abs().max().item() <= (6 / 160) ** 0.5
    for name, parameter in product.named_parameters():
        assert not name.endswith("bias") or not parameter.any()


def test_mlp_without_layers_raises() -> None:
    with pytest.raises(GraphTrialError, match="depth is 0"):
        ProductBlock(2, 4, depth=0, residual=False)
