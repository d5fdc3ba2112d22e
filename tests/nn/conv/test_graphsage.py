"""GraphSage against PyG and against a recurrent network run node by node."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.layers import WIDTH, build_layer, directed, output
from tests.helpers.samples import DEGENERATE, Graph, batch_of, vectors
from torch.nn import functional as F
from torch_geometric.nn import SAGEConv

from graphtrial.core.errors import GraphTrialError
from graphtrial.nn.conv.graphsage import GraphSage


def pyg_sage(layer: GraphSage, aggregator: str, *, l2: bool = True) -> SAGEConv:
    own, neighbours = layer.linear.weight.split(WIDTH, dim=1)
    theirs = SAGEConv(WIDTH, WIDTH, aggr=aggregator, normalize=l2).double()
    theirs.load_state_dict(
        {"lin_l.weight": neighbours, "lin_l.bias": layer.linear.bias, "lin_r.weight": own}, strict=aggregator != "lstm"
    )
    return theirs


@directed
@pytest.mark.parametrize("aggregator", ["mean", "max"])
@pytest.mark.parametrize("l2", [True, False])
def test_graphsage_matches_pyg(given: list[Graph], aggregator: str, l2: bool) -> None:
    batch, layer = batch_of(given), build_layer(GraphSage, aggregator=aggregator, l2=l2)
    theirs = pyg_sage(layer, aggregator, l2=l2)
    x = vectors(batch.num_nodes, WIDTH)
    sent = x if layer.pool is None else layer.pool(x).relu()
    torch.testing.assert_close(output(layer, batch, x), theirs((sent, x), batch.edge_index))


@directed
def test_released_form_transforms_the_root_features(given: list[Graph]) -> None:
    batch, layer = batch_of(given), build_layer(GraphSage, own="pooled")
    x = vectors(batch.num_nodes, WIDTH)
    sent = layer.pool(x).relu()
    torch.testing.assert_close(output(layer, batch, x), pyg_sage(layer, "max")((sent, sent), batch.edge_index))


@directed
def test_graphsage_lstm_matches_pyg(given: list[Graph]) -> None:
    batch, layer = batch_of(given), build_layer(GraphSage, aggregator="lstm")
    if not batch.num_edges:
        pytest.skip("PyG's LSTM needs an edge")
    theirs = pyg_sage(layer, "lstm")
    theirs.aggr_module.lstm.load_state_dict(layer.lstm.lstm.state_dict())
    x = vectors(batch.num_nodes, WIDTH)
    silent = batch.in_degree == 0
    # PyG pads the sequences with zeros and runs on through the padding, so only full sequences can be compared.
    full = batch.in_degree == batch.in_degree.max()
    ours = output(layer, batch, x)
    torch.testing.assert_close(ours[full], theirs((x, x), batch.edge_index)[full])
    alone = F.normalize(layer.linear(torch.cat([x, torch.zeros_like(x)], dim=1)))
    torch.testing.assert_close(ours[silent], alone[silent])


@directed
def test_lstm_reads_the_neighbours_of_each_node_in_order(given: list[Graph]) -> None:
    batch, layer = batch_of(given), build_layer(GraphSage, aggregator="lstm")
    x = vectors(batch.num_nodes, WIDTH)
    last = torch.zeros_like(x)
    for node in range(batch.num_nodes):
        received = x[batch.edge_index[0, batch.edge_index[1] == node]]
        if len(received):
            last[node] = layer.lstm.lstm(received.unsqueeze(1))[0][-1, 0]
    expected = F.normalize(layer.linear(torch.cat([x, last], dim=1)))
    torch.testing.assert_close(output(layer, batch, x), expected)


@pytest.mark.parametrize("aggregator", ["mean", "lstm"])
def test_only_max_aggregation_has_a_released_form(aggregator: str) -> None:
    with pytest.raises(GraphTrialError, match="own='pooled' belongs to the aggregator max"):
        GraphSage(4, aggregator=aggregator, own="pooled")


@pytest.mark.parametrize(("aggregator", "extra"), [("mean", 0), ("max", 56 * 57), ("lstm", 8 * 56 * 57)])
def test_graphsage_has_the_parameters_of_its_equation(aggregator: str, extra: int) -> None:
    count = sum(p.numel() for p in GraphSage(56, aggregator=aggregator).parameters())
    assert count == 2 * 56 * 56 + 56 + extra


def test_graphsage_rows_have_unit_norm() -> None:
    batch = batch_of(DEGENERATE)
    lengths = output(build_layer(GraphSage), batch, vectors(batch.num_nodes, WIDTH)).norm(dim=1)
    torch.testing.assert_close(lengths, torch.ones_like(lengths))
