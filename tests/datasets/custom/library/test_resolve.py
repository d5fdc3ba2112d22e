"""Datasets of other libraries: the real classes of PyG and OGB on files in the published layout."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.helpers.cli import CliRunner

from graphtrial.cli.main import app
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.plugins.permissions import NotAllowedError, allow, clear
from graphtrial.datasets import Dataset
from graphtrial.datasets.base import DATASETS
from graphtrial.datasets.custom import delete, import_files, import_library, names
from graphtrial.datasets.custom.library import process
from graphtrial.datasets.custom.library.load import load, main
from graphtrial.datasets.custom.library.names import parse
from graphtrial.datasets.custom.library.ogb_loader import with_pairs
from graphtrial.graphs import GraphSet

pytest.importorskip("torch_geometric")
EDGES = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])


@pytest.fixture(autouse=True)
def forget(own_home: Path) -> Iterator[None]:
    yield
    clear()
    for name in names():
        delete(name)
        DATASETS.remove(name)


def loaded(name: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> GraphSet:
    """Load in this process what `load_in_process` loads in another, which takes seconds to start."""
    monkeypatch.setenv(process.UNPICKLE, "1")
    source = parse(name)
    request = {"library": source.library, "dataset": source.dataset, "positional": source.positional}
    return load({**request, "keywords": source.keywords, "root": str(root), "task": source.entry.task})


def imported(graphs: GraphSet, name: str, folder: Path) -> Dataset:
    """Import the arrays that a process of its own would have returned."""
    graphs.save(folder / "graphs")
    files = sorted((folder / "graphs").iterdir())
    return import_files("mine", "library", files, arguments={"source": name}, task=parse(name).entry.task)


def table(path: Path, rows: list[list[float]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("\n".join(",".join(map(str, row)) for row in rows).encode()))


class Traced:
    """Pickle of a list of graphs that writes the id of the process that unpickles it."""

    def __init__(self, trace: Path, graphs: list[object]) -> None:
        self.trace, self.graphs = trace, graphs

    def __reduce__(self) -> tuple[object, ...]:
        write = f"__import__('pathlib').Path({str(self.trace)!r}).write_text(str(__import__('os').getpid()))"
        return eval, (f"({write}, [])[1]",), None, iter(self.graphs)


@pytest.mark.slow
def test_name_is_loaded_in_another_process_if_allowed(own_home: Path, tmp_path: Path) -> None:
    name, trace = "lrgb:pascalvoc-sp", tmp_path / "trace"
    raw = own_home / "libraries" / "lrgb" / "pascalvoc-sp" / "raw"
    raw.mkdir(parents=True)
    graph = (torch.rand(3, 14), torch.rand(4, 2), EDGES, [0, 1, 2])
    for part, count in {"train": 3, "val": 2, "test": 1}.items():
        (raw / f"{part}.pickle").write_bytes(pickle.dumps(Traced(trace, [graph] * count)))
    study = tmp_path / "s.toml"
    study.write_text(f'title = "t"\ndataset = "{name}"\nprotocol = "bgnn-v5/csl"\n[[models]]\nname = "gcn"\n')
    refused = CliRunner().invoke(app, ["study", str(study)])
    assert refused.exit_code == 2
    assert f"--allow {name}" in refused.output
    with pytest.raises(NotAllowedError, match=f"--allow {name}"):
        DATASETS.get(name)
    assert not trace.exists()

    result = CliRunner().invoke(app, ["data", "import", name, "--json"])
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert (facts["name"], facts["task"], facts["split_level"]) == ("lrgb-pascalvoc-sp", "node-classification", "graph")
    assert facts["splits"] == [{"train": 3, "val": 2, "test": 1}]
    assert int(trace.read_text()) != os.getpid()
    trace.unlink()
    spec = DATASETS.get(name)()  # imported by now, so that no loader runs
    assert (spec.name, spec.recipe.arguments, spec.licence[:6]) == (facts["name"], {"source": name}, "custom")
    assert not trace.exists()


def test_process_that_ends_without_an_answer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(GraphTrialError, match="its process ended with code 1"):
        import_library("pyg:ZINC")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("pyg:Planetoit", "PyG has no dataset 'Planetoit'. Did you mean 'Planetoid'?"),
        ("pyg:TUDataset", "TUDataset needs 'name': write pyg:TUDataset/NAME"),
        ("pyg:TUDataset/A/nam=B", "TUDataset has no argument 'nam'. Did you mean 'name'?"),
        ("pyg:MNISTSuperpixels", "no validation part"),
        ("pyg:FakeHeteroDataset", "only homogeneous graphs"),
    ],
)
def test_errors_of_names_are_one_line(name: str, reason: str, tmp_path: Path) -> None:
    source = parse(name)
    request = {"library": "pyg", "dataset": source.dataset, "positional": source.positional, "task": None}
    assert main(json.dumps({**request, "keywords": source.keywords, "root": str(tmp_path), "out": str(tmp_path)})) == 1
    message = json.loads((tmp_path / process.ERROR).read_text())["message"]
    assert reason in message
    assert len(message.splitlines()) == 1


def test_raw_files_of_a_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = tmp_path / "TINY" / "raw"
    raw.mkdir(parents=True)
    pairs = [(3 * g + u, 3 * g + v) for g in range(20) for u, v in [(1, 2), (2, 1)]]
    (raw / "TINY_A.txt").write_text("".join(f"{u}, {v}\n" for u, v in pairs))
    (raw / "TINY_graph_indicator.txt").write_text("".join(f"{g + 1}\n" * 3 for g in range(20)))
    (raw / "TINY_graph_labels.txt").write_text("".join(f"{g % 2}\n" for g in range(20)))
    (raw / "TINY_node_labels.txt").write_text("0\n1\n2\n" * 20)
    graphs = loaded("pyg:TUDataset/TINY", tmp_path, monkeypatch)
    assert (len(graphs), graphs.num_edges) == (20, 40)
    assert graphs.column("y").values.tolist() == [0, 1] * 10
    assert graphs.column("x").values[:3].tolist() == np.eye(3).tolist()


def test_class_without_a_complete_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = loaded("pyg:FakeDataset/num_graphs=6/avg_num_nodes=10/task=graph", tmp_path, monkeypatch)
    assert len(graphs) == 6
    karate = loaded("pyg:KarateClub", tmp_path, monkeypatch)  # whose train_mask has no others beside it
    assert karate.num_nodes == 34
    assert not [name for name in karate.columns if "mask" in name or name == "part"]


@pytest.mark.parametrize(
    ("name", "target", "task", "metric"),
    [
        ("peptides-func", torch.tensor([[0.0, 1.0, 0.0]]), "graph-binary-classification", "AP"),
        ("peptides-struct", torch.tensor([[0.5, 1.5, -2.0]]), "graph-regression", "MAE"),
    ],
)
def test_long_range_graph_benchmark(
    name: str, target: torch.Tensor, task: str, metric: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = tmp_path / name / "raw"
    raw.mkdir(parents=True)
    for number, part in enumerate(("train", "val", "test")):
        x, bonds = torch.arange(27).reshape(3, 9) % (number + 3), torch.zeros((4, 3), dtype=torch.long)
        flipped = 1 - target if name == "peptides-func" else -target
        torch.save([(x, bonds, EDGES, target), (x, bonds, EDGES, flipped)] * (2 - number // 2), raw / f"{part}.pt")
    dataset = imported(loaded(f"lrgb:{name}", tmp_path, monkeypatch), f"lrgb:{name}", tmp_path)
    assert (dataset.task.name, dataset.task.metric.title, dataset.task.outputs) == (task, metric, 3)
    assert dataset.splits[0].sizes == (4, 4, 2)
    assert dataset.graphs.column("x").values.shape == (30, 9)
    assert dataset.graphs.column("x").types == 5
    assert dataset.graphs.column("y").values[0].tolist() == target[0].tolist()


def write_contacts(folder: Path, **changed: object) -> None:
    """Write PCQM-Contact: tuples of x, edge_attr, edge_index, edge_label_index and edge_label, 4 / 4 / 2 graphs."""
    (folder / "pcqm-contact" / "raw").mkdir(parents=True)
    for number, part in enumerate(("train", "val", "test")):
        x, bonds = torch.arange(27).reshape(3, 9) % (number + 3), torch.zeros((4, 3), dtype=torch.long)
        pairs, linked = torch.tensor([[0, 2, 0, 1, 2], [2, 0, 0, 1, 1]]), torch.tensor([1, 1, 0, 0, 0], dtype=torch.int)
        given = {"pairs": pairs, "linked": linked, **changed}
        graph = (x, bonds, EDGES, given["pairs"], given["linked"])
        torch.save([graph] * (4 - number // 2 * 2), folder / "pcqm-contact" / "raw" / f"{part}.pt")


def test_contacts_of_the_long_range_graph_benchmark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_contacts(tmp_path)
    name = "lrgb:pcqm-contact"
    dataset = imported(loaded(name, tmp_path, monkeypatch), name, tmp_path)
    assert (dataset.task.name, dataset.task.metric.title, dataset.spec.split_level) == ("link-ranking", "MRR", "graph")
    assert dataset.splits[0].sizes == (4, 4, 2)
    assert dataset.graphs.column("pair_count").values.tolist() == [5] * 10
    assert dataset.graphs[9].column("pairs").values.tolist() == [[0, 2], [2, 0], [0, 0], [1, 1], [2, 1]]
    assert dataset.graphs[9].column("y").values.tolist() == [1, 1, 0, 0, 0]
    assert dataset.graphs.column("x").types == 5


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"pairs": torch.tensor([[0, 2, 0, 1, 3], [2, 0, 0, 1, 1]])}, r"has the pair \[3, 1\]"),
        ({"linked": torch.ones(4)}, "one value for each of 5 pairs; there are 4 values"),
        ({"linked": torch.ones(5)}, "the training graphs have links only"),
        ({"linked": torch.zeros(5)}, "no graph of the train part has a link"),
    ],
)
def test_contacts_that_do_not_fit(
    changed: dict[str, object], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_contacts(tmp_path, **changed)
    with pytest.raises(GraphTrialError, match=message):
        imported(loaded("lrgb:pcqm-contact", tmp_path, monkeypatch), "lrgb:pcqm-contact", tmp_path)


def write_ogb(folder: Path, graphs: int, *, features: bool) -> None:
    """Write the files of a dataset of OGB: tables of paths of three nodes."""
    table(folder / "raw" / "num-node-list.csv.gz", [[3]] * graphs)
    table(folder / "raw" / "num-edge-list.csv.gz", [[2]] * graphs)
    table(folder / "raw" / "edge.csv.gz", [[0, 1], [1, 2]] * graphs)
    if features:
        table(folder / "raw" / "node-feat.csv.gz", [[i % 4] * 9 for i in range(3 * graphs)])
        table(folder / "raw" / "edge-feat.csv.gz", [[i % 3] * 3 for i in range(2 * graphs)])
    (folder / "RELEASE_v1.txt").write_text("")


@pytest.mark.slow
def test_open_graph_benchmark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ogb", reason="ogb is not installed")
    hiv = tmp_path / "ogbg_molhiv"
    write_ogb(hiv, 6, features=True)
    table(hiv / "raw" / "graph-label.csv.gz", [[i % 2] for i in range(6)])
    table(hiv / "mapping" / "mol.csv.gz", [[0]])
    for part, ids in {"train": [0, 1], "valid": [2, 3], "test": [4, 5]}.items():
        table(hiv / "split" / "scaffold" / f"{part}.csv.gz", [[i] for i in ids])
    dataset = imported(loaded("ogb:ogbg-molhiv", tmp_path, monkeypatch), "ogb:ogbg-molhiv", tmp_path / "g")
    assert (dataset.task.name, dataset.task.metric.title) == ("graph-binary-classification", "ROC-AUC")
    assert [dataset.splits[0].parts[part].tolist() for part in ("train", "val", "test")] == [[0, 1], [2, 3], [4, 5]]
    assert dataset.graphs.num_edges == 24  # both directions are added by OGB
    delete("mine")

    arxiv = tmp_path / "ogbn_arxiv"
    write_ogb(arxiv, 1, features=False)
    table(arxiv / "raw" / "node-feat.csv.gz", [[0.5, i] for i in range(3)])
    table(arxiv / "raw" / "node-label.csv.gz", [[i % 2] for i in range(3)])
    table(arxiv / "raw" / "node_year.csv.gz", [[2010 + i] for i in range(3)])
    for number, part in enumerate(("train", "valid", "test")):
        table(arxiv / "split" / "time" / f"{part}.csv.gz", [[number]])
    dataset = imported(loaded("ogb:ogbn-arxiv", tmp_path, monkeypatch), "ogb:ogbn-arxiv", tmp_path / "n")
    assert (dataset.task.name, dataset.task.metric.title, dataset.spec.split_level) == (
        "node-classification",
        "accuracy",
        "node",
    )
    assert [dataset.splits[0].parts[part].tolist() for part in ("train", "val", "test")] == [[0], [1], [2]]
    delete("mine")

    ddi = tmp_path / "ogbl_ddi"
    write_ogb(ddi, 1, features=False)
    split = ddi / "split" / "target"
    split.mkdir(parents=True)
    for number, part in enumerate(("train", "valid", "test")):
        pairs = {"edge": np.array([[number, (number + 1) % 3]]), "edge_neg": np.array([[number, number]])}
        torch.save(pairs if number else {"edge": pairs["edge"]}, split / f"{part}.pt")
    dataset = imported(loaded("ogb:ogbl-ddi", tmp_path, monkeypatch), "ogb:ogbl-ddi", tmp_path / "l")
    assert (dataset.task.name, dataset.task.metric.title, dataset.splits[0].sizes) == (
        "link-prediction",
        "Hits@20",
        (1, 2, 2),
    )
    assert dataset.graphs.column("pairs").values.tolist() == [[0, 1], [1, 2], [1, 1], [2, 0], [2, 2]]
    assert dataset.graphs.column("y").values.tolist() == [1, 1, 0, 1, 0]


def cited(part: int, **changed: object) -> dict[str, object]:
    """A part of the split of ogbl-citation2 as OGB stores it: two links with three negative targets each."""
    ends = {"source_node": np.array([part, 2]), "target_node": np.array([1, part])}
    negative = {"target_node_neg": np.array([[0, 1, 2], [2, 1, 0]])} if part else {}
    return {key: value for key, value in {**ends, **negative, **(changed if part else {})}.items() if value is not None}


@pytest.mark.slow
def test_links_with_negatives_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ogb", reason="ogb is not installed")
    folder = tmp_path / "ogbl_citation2"
    write_ogb(folder, 1, features=False)
    table(folder / "raw" / "node-feat.csv.gz", [[0.5, i] for i in range(3)])
    table(folder / "raw" / "node_year.csv.gz", [[2010 + i] for i in range(3)])
    (folder / "split" / "time").mkdir(parents=True)
    for number, part in enumerate(("train", "valid", "test")):
        torch.save(cited(number), folder / "split" / "time" / f"{part}.pt")
    name = "ogb:ogbl-citation2"
    dataset = imported(loaded(name, tmp_path, monkeypatch), name, tmp_path / "g")
    assert (dataset.task.name, dataset.task.metric.title, dataset.spec.split_level) == ("link-ranking", "MRR", "pair")
    assert dataset.splits[0].sizes == (2, 8, 8)
    assert dataset.graphs.edge_index.tolist() == [[0, 1], [1, 2]]  # directed
    columns = {key: dataset.graphs.column(key).values.tolist() for key in ("pairs", "y", "query")}
    assert columns["pairs"][2:10] == [[1, 1], [2, 1], [1, 0], [1, 1], [1, 2], [2, 2], [2, 1], [2, 0]]
    assert columns["y"] == [1, 1, *[1, 1, 0, 0, 0, 0, 0, 0] * 2]
    assert columns["query"] == [0, 1, *[2, 3, 2, 2, 2, 3, 3, 3], *[4, 5, 4, 4, 4, 5, 5, 5]]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"target_node_neg": None}, "the valid part of the split has no 'target_node_neg'; it has source_node"),
        ({"target_node_neg": np.zeros(2, int)}, r"target_node_neg of shape \[2\]; \[2, negatives\] is needed"),
        ({"target_node_neg": np.zeros((3, 2), int)}, r"of shape \[3, 2\]; \[2, negatives\] is needed"),
        ({"target_node_neg": np.zeros((2, 0), int)}, r"of shape \[2, 0\]"),
        ({"target_node_neg": np.full((2, 2), 3)}, "node index outside 0 to 2: pair 4 is"),
        ({"target_node": None}, "the valid part of the split has no 'target_node'"),
        ({"target_node": np.zeros(3, int)}, "source_node and target_node of different shapes"),
    ],
)
def test_negatives_that_do_not_fit_their_links(changed: dict[str, object], message: str) -> None:
    graph = GraphSet.build([3], [2], [[0, 1], [1, 2]])
    split = {part: cited(number, **changed) for number, part in enumerate(("train", "valid", "test"))}
    with pytest.raises(GraphTrialError, match=message):
        with_pairs(graph, split)


def test_dataset_of_the_same_slug_is_not_taken_for_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = loaded("pyg:FakeDataset/num_graphs=30/avg_num_nodes=6/task=graph/num_classes=2", tmp_path, monkeypatch)
    graphs.save(tmp_path / "graphs")
    import_files("pyg-a-b", "library", sorted((tmp_path / "graphs").iterdir()), arguments={"source": "pyg:A/b"})
    assert DATASETS.get("pyg:A/b").name == "pyg-a-b"
    allow("pyg:A-b")
    with pytest.raises(GraphTrialError, match="which is not pyg:A-b"):
        DATASETS.get("pyg:A-b")
