"""`graphtrial run`: models of PyG on nodes, edges and links of imported data, and what data make impossible."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.cli import CliRunner

from graphtrial.cli.main import app
from graphtrial.core.plugins.permissions import clear
from graphtrial.datasets.base import DATASETS
from graphtrial.datasets.custom import delete, names

pytest.importorskip("torch_geometric")
PYG = "torch_geometric.nn.models:"
SHORT = ["--max-epochs", "2", "--seeds", "1", "--workers", "0", "--json"]
NODES = 60
PARTS = ("train", "val", "test")


@pytest.fixture(autouse=True)
def forget(own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield
    clear()
    for name in names():
        delete(name)
        DATASETS.remove(name)


def graph(**columns: Any) -> dict[str, Any]:
    """A ring with chords, and a category of each node."""
    rng = random.Random(0)
    edges = [[i, (i + 1) % NODES] for i in range(NODES)] + [rng.sample(range(NODES), 2) for _ in range(NODES)]
    return {"nodes": NODES, "edges": edges, "x": [i % 3 for i in range(NODES)], **columns}


def imported(lines: list[dict[str, Any]], *options: str) -> str:
    Path("graphs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    result = CliRunner().invoke(app, ["data", "import", "graphs.jsonl", "--name", "mine", *options])
    assert result.exit_code == 0, result.output
    return "mine"


def trained(dataset: str, model: str, budget: int = 10_000, *options: str) -> dict[str, Any]:
    result = CliRunner().invoke(app, ["run", dataset, model, *SHORT, "--budget", str(budget), *options])
    assert result.exit_code == 0, result.output
    row: dict[str, Any] = json.loads(result.stdout)
    assert row["test"]["n"] == 1
    assert row["params"] <= budget
    return row


@pytest.mark.slow
@pytest.mark.parametrize("model", ["GAT", "PNA"])
def test_pyg_model_on_the_nodes_of_one_graph(model: str) -> None:
    columns = {"node_y": [i % 2 for i in range(NODES)], "split": [PARTS[i % 3] for i in range(NODES)]}
    row = trained(imported([graph(**columns)], "--both-ways"), PYG + model)
    assert row["protocol"] == "bgnn-v5/wikics@1"
    assert row["metric"] == "accuracy"


@pytest.mark.slow
@pytest.mark.parametrize("split", ["of graphs", "of edges"])
def test_pyg_model_on_edges(split: str) -> None:
    target = {"edge_y": [i % 2 for i in range(2 * NODES)]}
    if split == "of graphs":
        row = trained(imported([graph(**target, split=PARTS[i % 3]) for i in range(6)]), PYG + "GraphSAGE")
        assert row["protocol"] == "bgnn-v5/zinc@1"
    else:
        parts = [PARTS[i % 3] for i in range(2 * NODES)]
        row = trained(imported([graph(**target, split=parts)]), PYG + "GraphSAGE")
        assert row["protocol"] == "bgnn-v5/wikics@1"


@pytest.mark.slow
def test_pyg_model_on_links() -> None:
    name = imported([graph()], "--task", "link-prediction", "--split", "0.6/0.2/0.2")
    assert trained(name, PYG + "GraphSAGE")["protocol"] == "wikics/links@1"


@pytest.mark.slow
def test_pyg_model_on_a_dataset_of_pyg(own_home: Path, mirror: Path) -> None:
    """Cora, from the publishers' files, by the loader of PyG in its own process."""
    raw = own_home / "libraries" / "pyg" / "Planetoid" / "Cora" / "raw"
    raw.mkdir(parents=True)
    for file in (mirror / "planetoid").glob("ind.cora.*"):
        shutil.copy(file, raw)
    row = trained("pyg:Planetoid/Cora", PYG + "GAT", 100_000, "--set", "heads=4")
    assert row["dataset"] == "pyg-planetoid-cora"


@pytest.mark.slow
def test_multi_label_data_with_missing_labels_have_roc_auc() -> None:
    lines = [graph(y=[i % 2, None if i % 5 == 0 else i // 2 % 2], split=PARTS[i % 3]) for i in range(24)]
    row = trained(imported(lines), PYG + "PNA")
    assert row["metric"] == "ROC-AUC"
