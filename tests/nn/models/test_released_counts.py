"""Every released configuration of the models outside the GraphGPS family has exactly its parameters."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tests.nn.models.test_graphgps_counts import settings_of, shapes_of

from graphtrial.nn import Shapes, build_model, count_parameters

DATA = {
    "zinc": Shapes(outputs=1, level="graph", node_types=28, edge_types=4),
    "pattern": Shapes(outputs=2, level="node", node_types=3),
    "cluster": Shapes(outputs=6, level="node", node_types=7),
    "mnist": Shapes(outputs=10, level="graph", node_dim=3, edge_dim=1),
    "cifar10": Shapes(outputs=10, level="graph", node_dim=5, edge_dim=1),
    "wikics": Shapes(outputs=10, level="node", node_dim=300),
    "cora": Shapes(outputs=7, level="node", node_dim=1433),
    "citeseer": Shapes(outputs=6, level="node", node_dim=3703),
    "pubmed": Shapes(outputs=3, level="node", node_dim=500),
}
"""Input and output sizes as the released code reads them: two logits for PATTERN, 28 atom types for ZINC."""

ROWS = list(csv.DictReader((Path(__file__).parent / "released_counts.csv").open(encoding="utf-8")))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['repository']}/{row['config']}")
def test_released_configuration_has_exactly_its_parameters(row: dict[str, str]) -> None:
    shapes = shapes_of({**row, "data": "zinc-28"})
    shapes = replace(DATA[row["data"]], encodings=shapes.encodings, encoding_dim=shapes.encoding_dim)
    settings = {
        key: value.replace("_", " ") if isinstance(value, str) else value for key, value in settings_of(row).items()
    }
    with torch.device("meta"):  # shapes alone count
        model = build_model(row["model"], shapes, settings)
    assert count_parameters(model) == int(row["parameters"])


def test_every_repository_is_covered() -> None:
    assert len({(row["repository"], row["config"]) for row in ROWS}) == len(ROWS)
    assert Counter(row["repository"] for row in ROWS) == {
        "DevinKreuzer/SAN": 15,
        "graphdeeplearning/graphtransformer": 27,
        "lukecavabarrett/pna": 20,
        "Saro00/DGN": 41,
        "vijaydwivedi75/gnn-lspe": 10,
        "LUOyk1999/tunedGNN": 12,
        "cptq/SignNet-BasisNet": 17,
        "microsoft/Graphormer": 1,
    }
