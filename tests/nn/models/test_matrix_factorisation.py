"""Matrix factorisation: published size and pair scores."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.samples import batch_of

from graphtrial.core.errors import GraphTrialError
from graphtrial.nn import Shapes, build_model, count_parameters

PAIRS = Shapes(outputs=1, level="pair", node_dim=3, num_nodes=5)


def test_matrix_factorisation_has_its_published_size() -> None:
    collab = Shapes(outputs=1, level="pair", node_dim=128, edge_dim=2, num_nodes=235_868)
    with torch.device("meta"):
        model = build_model("matrix-factorisation", collab, {"width": 256})
    assert count_parameters(model) == 60_546_561


def test_pair_is_scored_by_the_mlp_on_both_vectors() -> None:
    torch.manual_seed(0)
    model = build_model("matrix-factorisation", PAIRS, {"width": 8}).double()
    pairs = torch.tensor([[0, 1], [1, 0], [4, 4], [2, 3]])
    batch = batch_of([(5, [(0, 1)])]).with_column("pairs", pairs)
    joined = model.table.weight[pairs].flatten(1)
    linear = [module for module in model.head.modules() if isinstance(module, torch.nn.Linear)]
    expected = linear[2](linear[1](linear[0](joined).relu()).relu())
    torch.testing.assert_close(model(batch), expected)
    assert not torch.allclose(expected[0], expected[1])


@pytest.mark.parametrize(
    "shapes",
    [Shapes(outputs=1, level="pair", node_dim=3), Shapes(outputs=1, level="graph", node_dim=3, num_nodes=5)],
    ids=["many graphs", "graphs"],
)
def test_matrix_factorisation_requires_a_single_graph_with_pairs(shapes: Shapes) -> None:
    with pytest.raises(GraphTrialError, match="predicts links between the nodes of a dataset of one graph"):
        build_model("matrix-factorisation", shapes, {"width": 8})


def test_graph_of_other_size_raises() -> None:
    model = build_model("matrix-factorisation", PAIRS, {"width": 8})
    with pytest.raises(GraphTrialError, match="has 5 nodes, the batch 4"):
        model(batch_of([(4, [])]))
