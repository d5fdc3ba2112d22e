"""Splits in the data are used in every format; contradictions raise."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from tests.helpers.cli import CliRunner
from torch_geometric.data import Data

from graphtrial.cli.main import app
from graphtrial.core.errors import GraphTrialError, InvalidGraphError
from graphtrial.datasets import Dataset
from graphtrial.datasets.custom import delete, import_files, import_graphs, names
from graphtrial.datasets.custom.importers import FORMATS
from graphtrial.execution import run_trials
from graphtrial.graphs import Column, GraphSet, from_networkx, from_pyg, to_networkx, to_pyg
from graphtrial.studies import ModelEntry, Study
from graphtrial.trials import Store

NODES = 34
PARTS = ["train"] * 12 + ["val"] * 9 + ["test"] * 11 + ["none"] * 2
RNG = np.random.default_rng(7)
ORDER = [PARTS[i] for i in RNG.permutation(NODES)]
IDS = {part: [i for i, word in enumerate(ORDER) if word == part] for part in ("train", "val", "test")}
CLASSES = RNG.integers(0, 2, NODES)
LINKS = np.array([(i, (i + step) % NODES) for i in range(NODES) for step in (1, -1, 5, -5)]).T


@pytest.fixture(autouse=True)
def forget(own_home: Path) -> Any:
    """Every test may call its dataset the same."""
    yield
    for name in names():
        delete(name)


def node_graph(**attributes: Any) -> Data:
    """The single graph, with a class for each node."""
    return Data(
        x=torch.eye(NODES),
        edge_index=torch.from_numpy(LINKS),
        y=torch.from_numpy(CLASSES.astype(np.int64)),
        **attributes,
    )


def masks(spelling: str = "val", kind: torch.dtype = torch.bool) -> dict[str, torch.Tensor]:
    words = {"train": "train", spelling: "val", "test": "test"}
    return {f"{name}_mask": torch.tensor([w == word for w in ORDER]).to(kind) for name, word in words.items()}


def ids_of(dataset: Dataset, split: int = 0) -> dict[str, list[int]]:
    return {part: ids.tolist() for part, ids in dataset.splits[split].parts.items()}


# One way to write the same graph and split in each format; the test below fails for a format that is not here.


def _jsonl(folder: Path, **split: Any) -> list[Path]:
    record = {"nodes": NODES, "edges": LINKS.T.tolist(), "node_y": CLASSES.tolist(), **(split or {"split": ORDER})}
    (folder / "g.jsonl").write_text(json.dumps(record))
    return [folder / "g.jsonl"]


def _parquet(folder: Path) -> list[Path]:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    record = {"nodes": NODES, "edges": LINKS.T.tolist(), "node_y": CLASSES.tolist()}
    record |= {name: mask.tolist() for name, mask in masks("validation").items()}
    parquet.write_table(pyarrow.Table.from_pylist([record]), folder / "g.parquet")
    return [folder / "g.parquet"]


def _pyg(folder: Path) -> list[Path]:
    torch.save([node_graph(**masks()).to_dict()], folder / "g.pt")
    return [folder / "g.pt"]


def _graphml(folder: Path) -> list[Path]:
    nx.write_graphml(_networkx(), folder / "g.graphml")
    return [folder / "g.graphml"]


def _networkx() -> nx.DiGraph:
    graph = nx.DiGraph()
    for node in range(NODES):
        graph.add_node(node, kind=int(CLASSES[node]), split=ORDER[node])
    graph.add_edges_from(LINKS.T.tolist())
    return graph


def _gml(folder: Path) -> list[Path]:
    nx.write_gml(_networkx(), folder / "g.gml")
    return [folder / "g.gml"]


def _node_link(folder: Path) -> list[Path]:
    (folder / "g.json").write_text(json.dumps(nx.node_link_data(_networkx(), edges="edges")))
    return [folder / "g.json"]


def _csv(folder: Path) -> list[Path]:
    edges, nodes = folder / "edges.csv", folder / "nodes.csv"
    edges.write_text("source,target\n" + "\n".join(f"{u},{v}" for u, v in LINKS.T.tolist()))
    nodes.write_text("node,y,split\n" + "\n".join(f"{i},{CLASSES[i]},{ORDER[i]}" for i in range(NODES)))
    return [edges, nodes]


def _edgelist(folder: Path) -> list[Path]:
    (folder / "g.edgelist").write_text("\n".join(f"{u} {v}" for u, v in LINKS.T.tolist()))
    (folder / "g.labels").write_text("\n".join(f"{i} {CLASSES[i]} {ORDER[i]}" for i in range(NODES)))
    return [folder / "g.edgelist", folder / "g.labels"]


def _arrays(folder: Path) -> list[Path]:
    plain = from_pyg([node_graph()])
    for name, mask in masks().items():
        plain = plain.with_column(name, Column(mask.numpy(), "node"))
    plain.save(folder / "set")
    return sorted((folder / "set").iterdir())


WRITERS: dict[str, Callable[[Path], list[Path]]] = {
    "jsonl": _jsonl,
    "parquet": _parquet,
    "pyg": _pyg,
    "csv": _csv,
    "graphml": _graphml,
    "gml": _gml,
    "node-link": _node_link,
    "edgelist": _edgelist,
    "arrays": _arrays,
    "library": _arrays,
}
OPTIONS = {name: {"node_target": "kind"} for name in ("graphml", "gml", "node-link")}
OPTIONS |= {"library": {"source": "pyg:Planetoid/Cora"}}


def test_every_format_with_splits_is_covered() -> None:
    assert set(WRITERS) == set(FORMATS) - {"tu"}  # whose tables have no place for one


@pytest.mark.parametrize("kind", WRITERS)
def test_split_in_the_file_is_used(kind: str, tmp_path: Path) -> None:
    built = import_files("mine", kind, WRITERS[kind](tmp_path), arguments=OPTIONS.get(kind, {}))
    assert built.spec.split_level == "node"
    assert len(built.splits) == 1
    assert ids_of(built) == IDS
    assert not [name for name in built.graphs.columns if "mask" in name or name == "split"]
    assert built.graphs.column("x").width in (1, NODES)  # a mask is not a feature


@pytest.mark.parametrize("kind", WRITERS)
def test_split_option_with_split_in_the_file_raises(kind: str, tmp_path: Path) -> None:
    paths = WRITERS[kind](tmp_path)
    for rule in ({"shares": [0.8, 0.1, 0.1], "seed": 0}, {"folds": 5, "seed": 0}):
        with pytest.raises(GraphTrialError, match=r"contain their own split.* leave out --split"):
            import_files("mine", kind, paths, arguments=OPTIONS.get(kind, {}), split=rule)


@pytest.mark.parametrize("spelling", ["val", "valid", "validation", "dev"])
@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int64, torch.float32])
def test_mask_names_and_dtypes_are_normalised(spelling: str, dtype: torch.dtype) -> None:
    built = import_graphs("mine", from_pyg([node_graph(**masks(spelling, dtype))]))
    assert ids_of(built) == IDS


def test_masks_index_lists_and_strings_are_equivalent() -> None:
    ways: list[dict[str, Any]] = [
        {name: mask.numpy() for name, mask in masks().items()},
        {name: mask.tolist() for name, mask in masks().items()},
        {f"{part}_idx": torch.tensor(ids) for part, ids in IDS.items()},
        {f"{part}_index": ids for part, ids in IDS.items()},
        {"split": ORDER},
        {"split": np.array(ORDER)},
        {"split": {"train": IDS["train"], "valid": torch.tensor(IDS["val"]), "test": IDS["test"]}},
    ]
    for way in ways:
        graphs = from_pyg([node_graph(**way)])
        assert {word: np.flatnonzero(graphs.column("part").values == n).tolist() for n, word in enumerate(IDS)} == IDS


def test_pyg_masks_round_trip() -> None:
    item = node_graph(**masks())
    (again,) = to_pyg(from_pyg([item]))
    for name in ("train_mask", "val_mask", "test_mask"):
        assert torch.equal(again[name], item[name])
        assert again[name].dtype == torch.bool
    assert "part" not in again


def test_mask_columns_are_separate_splits() -> None:
    rng = np.random.default_rng(0)
    parts = np.stack([rng.permutation(np.array([0] * 14 + [1] * 9 + [3] * 11)) for _ in range(5)], axis=1)
    test = np.zeros(NODES, bool)
    test[:3] = True
    parts[:3] = 3
    wide = {"train_mask": torch.from_numpy(parts == 0), "val_mask": torch.from_numpy(parts == 1)}
    item = node_graph(**wide, test_mask=torch.from_numpy(test))  # as the masks of WikiCS: one test part for all splits
    built = import_graphs("mine", from_pyg([item]))
    assert len(built.splits) == 5
    for number in range(5):
        actual = ids_of(built, number)
        assert actual == {
            "train": torch.where(item.train_mask[:, number])[0].tolist(),
            "val": torch.where(item.val_mask[:, number])[0].tolist(),
            "test": [0, 1, 2],
        }
    (again,) = to_pyg(built.graphs)
    assert torch.equal(again.train_mask, item.train_mask)
    assert again.test_mask.shape == (NODES, 5)


def test_graph_level_split_column_is_used() -> None:
    words = ["train"] * 6 + ["valid"] * 3 + ["test"] * 3
    items = [small(number, split=word) for number, word in enumerate(words)]
    built = import_graphs("mine", from_pyg(items))
    assert built.spec.split_level == "graph"
    assert ids_of(built) == {"train": [0, 1, 2, 3, 4, 5], "val": [6, 7, 8], "test": [9, 10, 11]}
    again = to_pyg(built.graphs)
    assert [item.split for item in again] == ["train"] * 6 + ["val"] * 3 + ["test"] * 3
    delete("mine")
    assert ids_of(import_graphs("mine", from_pyg(again))) == {
        "train": [*range(6)],
        "val": [6, 7, 8],
        "test": [9, 10, 11],
    }


class Indexed(list[Data]):
    """A dataset that knows its split as those of OGB do."""

    _indices = None

    def __init__(self, items: list[Data], split: dict[str, Any]) -> None:
        super().__init__(items)
        self.split = split

    def get_idx_split(self) -> dict[str, Any]:
        return self.split


def small(number: int, **attributes: Any) -> Data:
    return Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2, y=torch.tensor(number % 2), **attributes)


def test_get_idx_split_is_used(tmp_path: Path) -> None:
    split = {"train": torch.arange(6), "valid": torch.tensor([6, 8]), "test": torch.tensor([7, 9])}
    expected = {"train": [*range(6)], "val": [6, 8], "test": [7, 9]}
    items = [small(number) for number in range(10)]
    assert ids_of(import_graphs("mine", from_pyg(Indexed(items, split)))) == expected
    torch.save({"graphs": [item.to_dict() for item in items], "split": split}, tmp_path / "g.pt")
    assert ids_of(import_files("also", "pyg", [tmp_path / "g.pt"])) == expected
    nodes = {part: torch.tensor(ids) for part, ids in IDS.items()}
    assert ids_of(import_graphs("nodes", from_pyg(Indexed([node_graph()], nodes)))) == IDS
    with pytest.raises(InvalidGraphError, match=r"given twice, by get_idx_split\(\) and by"):
        from_pyg(Indexed([node_graph(**masks())], nodes))
    chosen = Indexed(items, split)
    chosen._indices = [3, 1]  # type: ignore[assignment]
    with pytest.raises(InvalidGraphError, match="a subset or a permutation"):
        from_pyg(chosen)


TRUE, FALSE = torch.ones(NODES, dtype=torch.bool), torch.zeros(NODES, dtype=torch.bool)
BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"train_mask": masks()["train_mask"]}, "the split has 'train_mask', but no val and no test"),
    ({k: v for k, v in masks().items() if k != "val_mask"}, "but no val"),
    ({**masks(), "valid_mask": FALSE}, "given twice, by 'test_mask' and 'train_mask' and 'val_mask' and 'valid_mask'"),
    ({**masks(), "split": ORDER}, "given twice"),
    ({**masks(), "train_idx": torch.tensor([0])}, "given twice"),
    ({**masks(), "train_mask": TRUE}, r"20 of 34 entries are in two parts: node \d+ is in 'train_mask' and '"),
    ({**masks(), "val_mask": FALSE}, "'val_mask' has no node in split 0"),
    ({**masks(), "val_mask": FALSE[:5]}, "'val_mask' has 5 entries in graph 0"),
    ({f"{part}_mask": torch.tensor(ids) for part, ids in IDS.items()}, "index lists are called"),
    ({**masks(), "train_mask": torch.zeros(NODES, 2, 2)}, r"\[rows\] or \[rows, splits\]"),
    (
        {"train_mask": TRUE[:, None].expand(-1, 2), "val_mask": TRUE[:, None].expand(-1, 3), "test_mask": TRUE},
        "different numbers of splits: '2' and '3'",
    ),
    ({f"{part}_idx": [*ids, 0, 0] for part, ids in IDS.items()}, "a duplicate index"),
    ({**{f"{part}_idx": ids for part, ids in IDS.items()}, "test_idx": [NODES]}, "outside 0 to 33"),
    ({**{f"{part}_idx": ids for part, ids in IDS.items()}, "test_idx": IDS["val"]}, "in two parts"),
    ({**{f"{part}_idx": ids for part, ids in IDS.items()}, "test_idx": [0.5]}, "flat list of integers"),
    ({"split": torch.zeros(NODES, dtype=torch.int64)}, "'split' must be one of train, val, test, none, not 0"),
    ({"split": ["train"] * (NODES - 1) + ["tset"]}, "not 'tset'"),
    ({"split": ["train"] * NODES}, "no node has 'val' in 'split' in split 0"),
    ({"split": ["train", "val", "test"]}, "'split' has 3 entries in graph 0, which has 34 nodes"),
    ({"train_nodes": torch.arange(3)}, "'train_nodes' looks like a split"),
    ({"train_pos_edge_index": torch.zeros(2, 3, dtype=torch.int64)}, "looks like a split"),
    ({"part": torch.zeros(NODES, dtype=torch.int64)}, "'part' is reserved for the split"),
]


@pytest.mark.parametrize(("attributes", "reason"), BROKEN, ids=[str(n) for n in range(len(BROKEN))])
def test_contradicting_masks_raise(attributes: dict[str, Any], reason: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidGraphError, match=reason):
        from_pyg([node_graph(**attributes)])
    plain = {k: v.clone() if isinstance(v, torch.Tensor) else v for k, v in node_graph(**attributes).to_dict().items()}
    torch.save([plain], tmp_path / "g.pt")
    result = CliRunner().invoke(app, ["data", "import", str(tmp_path / "g.pt"), "--name", "mine"])
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("graphtrial: ")


def test_unrelated_attributes_are_kept() -> None:
    graphs = from_pyg([node_graph(train_station=torch.zeros(NODES), stopping_mask=TRUE)])
    assert {"train_station", "stopping_mask"} <= graphs.columns.keys()
    assert "part" not in graphs.columns


def test_masks_of_several_graphs_must_be_constant_per_graph() -> None:
    def item(number: int, part: str) -> Data:
        chosen = {f"{word}_mask": torch.full((2,), word == part) for word in ("train", "val", "test")}
        return small(number, **chosen)

    words = ["train"] * 4 + ["val"] * 2 + ["test"] * 2
    built = import_graphs("mine", from_pyg([item(number, word) for number, word in enumerate(words)]))
    assert built.spec.split_level == "graph"
    assert ids_of(built) == {"train": [0, 1, 2, 3], "val": [4, 5], "test": [6, 7]}
    mixed = [item(0, "train"), item(1, "val"), item(2, "test")]
    mixed[0].train_mask = torch.tensor([True, False])
    with pytest.raises(InvalidGraphError, match="divides the nodes within 3 graphs"):
        import_graphs("other", from_pyg(mixed))
    some = [item(0, "train"), small(1)]
    with pytest.raises(InvalidGraphError, match="is in some graphs but not in all"):
        from_pyg(some)
    with pytest.raises(InvalidGraphError, match="is in some graphs but not in all"):
        from_pyg(some[::-1])


def test_node_split_requires_node_targets() -> None:
    item = node_graph(**masks())
    item.y = torch.tensor([1])
    with pytest.raises(GraphTrialError, match="divides nodes, but the targets `y` are of graphs"):
        import_graphs("mine", from_pyg([item]))


def edge_graph() -> tuple[Data, np.ndarray[Any, Any]]:
    """A ring whose edges have a class: whether they cross a border; both directions of a link in one part."""
    link = np.minimum(LINKS[0], LINKS[1]) * NODES + np.maximum(LINKS[0], LINKS[1])
    _, number = np.unique(link, return_inverse=True)
    part = np.array([0, 0, 0, 1, 2])[number % 5]
    y = torch.from_numpy((number % 2).astype(np.int64))
    chosen = {f"{word}_mask": torch.from_numpy(part == n) for n, word in enumerate(("train", "val", "test"))}
    return Data(x=torch.eye(NODES), edge_index=torch.from_numpy(LINKS), y=y, **chosen), part


def test_edge_level_split_column_is_used(tmp_path: Path) -> None:
    item, part = edge_graph()
    built = import_graphs("mine", from_pyg([item]), protocol="bgnn-v5/csl")
    assert (built.task.name, built.spec.split_level) == ("edge-classification", "edge")
    ends = built.graphs.edge_index
    for number, ids in enumerate(built.splits[0].parts.values()):
        actual = {(int(ends[0, i]), int(ends[1, i])) for i in ids}
        assert actual == {(int(u), int(v)) for u, v in LINKS[:, part == number].T}
    (again,) = to_pyg(built.graphs)
    assert int(again.val_mask.sum()) == int((part == 1).sum())
    study = Study(
        "t",
        "mine",
        (ModelEntry("gcn", {"width": 8, "layers": 2}),),
        seeds=1,
        splits=1,
        rules={"stopping.max_epochs": 2},
    )
    store = Store(tmp_path / "store.sqlite")
    run_trials(study.trials(), store, workers=0)
    (record,) = store.trials()
    assert (record.status, record.metric) == ("done", "F1"), record.error
    for name in ("train_mask", "val_mask", "test_mask"):
        del item[name]
    with pytest.raises(GraphTrialError, match="edges of a single graph are not divided at random"):
        import_graphs("other", from_pyg([item]))


def test_reverse_edges_inherit_the_split(tmp_path: Path) -> None:
    record = {"nodes": 4, "edges": [[0, 1], [1, 2], [2, 3], [3, 3]], "edge_y": [0, 1, 0, 1]}
    words = ["train", "val", "test", "none"]
    (tmp_path / "g.jsonl").write_text(json.dumps({**record, "split": words}))
    built = import_files("mine", "jsonl", [tmp_path / "g.jsonl"], arguments={"both_ways": True})
    ends = built.graphs.edge_index
    actual = [sorted((int(ends[0, i]), int(ends[1, i])) for i in ids) for ids in built.splits[0].parts.values()]
    assert actual == [[(0, 1), (1, 0)], [(1, 2), (2, 1)], [(2, 3), (3, 2)]]


def test_networkx_split_attributes_round_trip() -> None:
    graph = nx.Graph()
    for node in range(6):
        graph.add_node(node, value=float(node), split=("train", "train", "val", "val", "test", "none")[node])
    graph.add_edges_from([(0, 1), (2, 3)])
    built = from_networkx([graph], node_features=["value"])
    assert built.column("part").values.tolist() == [0, 0, 1, 1, 2, 3]
    back = to_networkx(built, 0)
    assert [back.nodes[node]["split"] for node in range(6)] == [graph.nodes[node]["split"] for node in range(6)]
    with pytest.raises(InvalidGraphError, match="'split' is a split, so that it can be neither"):
        from_networkx([graph], node_features=["split"])
    graph.graph["split"] = "train"
    with pytest.raises(InvalidGraphError, match="given twice"):
        from_networkx([graph])
    del graph.graph["split"], graph.nodes[3]["split"]
    with pytest.raises(InvalidGraphError, match="'split' is in some nodes but not in 1 others"):
        from_networkx([graph])


def test_saved_set_with_conflicting_split_column_raises() -> None:
    plain = from_pyg([node_graph()])
    for values in (np.arange(NODES), np.zeros(NODES, np.float32)):
        with pytest.raises(InvalidGraphError, match="rename it if it means anything else"):
            import_graphs("mine", plain.with_column("part", Column(values, "node")))


def test_command_names_the_source_of_the_split(tmp_path: Path) -> None:
    (path,) = _pyg(tmp_path)
    run = CliRunner().invoke
    printed = run(app, ["data", "import", str(path), "--name", "mine"])
    assert printed.exit_code == 0, printed.output
    assert "splits, from the data: 1 x train / val / test = 12 / 9 / 11 nodes" in printed.stdout
    for words in (["--split", "0.8/0.1/0.1"], ["--folds", "5"], ["--seed", "0"]):
        result = run(app, ["data", "import", str(path), "--name", "again", *words])
        assert result.exit_code == 2
        assert "leave out --split, --folds and --seed" in result.stderr
        assert result.stderr.count("\n") == 1
    facts = json.loads(run(app, ["data", "info", "mine", "--json"]).stdout)
    assert facts["splits"] == [{"train": 12, "val": 9, "test": 11}]


def test_split_strings_of_several_graphs_are_kept(tmp_path: Path) -> None:
    rows = [{"nodes": 2, "edges": [[0, 1]], "y": n % 2, "split": w} for n, w in enumerate(["Train", "valid", "TEST"])]
    (tmp_path / "g.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    assert ids_of(import_files("mine", "jsonl", [tmp_path / "g.jsonl"])) == {"train": [0], "val": [1], "test": [2]}
    rows[1]["split"] = "dev-test"
    (tmp_path / "g.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    with pytest.raises(GraphTrialError, match=r"g\.jsonl, line 2: 'split' must be one of"):
        import_files("other", "jsonl", [tmp_path / "g.jsonl"])


def test_sets_without_masks_are_unchanged(tmp_path: Path) -> None:
    assert isinstance(built := from_pyg([node_graph()]), GraphSet)
    assert "part" not in built.columns
    assert ids_of(import_graphs("mine", built)) != IDS
