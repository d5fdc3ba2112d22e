"""Every reader of files that come from elsewhere, with sound examples of what it reads."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import networkx as nx
import numpy as np
import torch

from graphtrial.core.plugins.loader import load_plugin, unload_plugin
from graphtrial.datasets import aqsol, planetoid_reader, qm9_reader, wikics, zinc
from graphtrial.datasets.custom import recipe
from graphtrial.datasets.custom.importers import read as read_own
from graphtrial.datasets.molecules.conformers import StructureReader
from graphtrial.datasets.molecules.smiles import Chemistry
from graphtrial.datasets.tsp.text import read_tours
from graphtrial.datasets.tu.reader import read_folder
from graphtrial.graphs import Column, GraphSet
from graphtrial.io import archive, cifar, idx
from graphtrial.io.pickles import reader as unpickle
from graphtrial.studies import ModelEntry, Study, load_study
from graphtrial.training.checkpoint import Checkpoint
from graphtrial.trials import Store
from graphtrial.wikipedia.dumps.sqldump import Counts, Wanted, read_table
from graphtrial.wikipedia.dumps.xmldump import PageCounts, read_pages

Files = dict[str, bytes]
"""The content of files below a folder, by name."""


@dataclass(frozen=True)
class Reader:
    """A reader: `make` gives sound files, `read` reads them from a folder, in which some may be absent if `gaps`."""

    make: Callable[[], Files]
    read: Callable[[Path], object]
    needs: str | None = None
    gaps: bool = False


TU = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n3, 1\n1, 3\n3, 4\n4, 3\n5, 6\n6, 5\n",
    "graph_indicator": "1\n1\n1\n1\n2\n2\n",
    "graph_labels": "7\n-1\n",
    "node_labels": "2\n3\n2\n2\n5\n2\n",
    "edge_labels": "".join(f"{n}\n" for n in (0, 0, 1, 1, 2, 2, 0, 0, 1, 1)),
    "node_attributes": "0.5, 1\n1.5, 1\n2.5, 1\n3.5, 1\n4.5, 1\n5.5, 1e-3\n",
}
TU_FILES = {f"S_{name}.txt": text.encode() for name, text in TU.items()}
LINES = [
    {"nodes": 3, "edges": [[0, 1], [1, 2]], "x": [0, 2, 1], "edge_attr": [[0.5], [1.5]], "y": 1},
    {"nodes": 1, "edges": [], "x": [0], "edge_attr": [], "y": 0},
]
CSV_TABLES = {
    "edges.csv": b"graph,source,target,weight\na,1,2,0.5\na,2,1,0.5\nb,1,1,2\nc,1,1,3\n",
    "nodes.csv": b'graph,node,feat\na,1,"0.5,1"\na,2,"1.5,2"\nb,1,"0,0"\nc,1,"1,0"\n',
    "graphs.csv": b"graph,label,split\na,red,train\nb,blue,test\nc,red,val\n",
}
SQL = (
    "-- a dump\nCREATE TABLE `t` (\n  `a` int(8) NOT NULL,\n  `b` varbinary(255),\n  `c` double,\n"
    "  KEY `b` (`b`)\n) ENGINE=x;\n"
    "INSERT INTO `t` VALUES (1,'Ab\\'c',0.5),(-2,NULL,1e3),(3,'d,(e)',2);\nINSERT INTO `t` VALUES (4,'é\\\\',0);\n"
)
XML = (
    "<mediawiki><siteinfo><case>first-letter</case><namespaces><namespace key='0'/>"
    "<namespace key='14'>Category</namespace></namespaces></siteinfo>\n"
    "<page><title>One &amp; two</title><ns>0</ns><id>7</id><revision><id>1</id>"
    "<text>[[Three|3]] {{t}}</text></revision></page>\n<page><title>R</title><ns>0</ns><id>8</id>"
    "<redirect title='One'/><revision><text>#REDIRECT [[One]]</text></revision></page></mediawiki>\n"
)
STUDY = (
    'title = "t"\npaper = "p"\ndataset = "csl"\nseeds = 1\nsplits = 2\n'
    "rules = {stopping.max_epochs = 2, optimizer.lr = 0.001}\n"
    '[[models]]\nname = "gcn"\nwidth = 8\nlayers = 2\nencoding = ["none", "laplacian:4"]\n'
    "[models.grid]\ndropout = [0.0, 0.5]\n"
)
PLUGIN = (
    "from torch import nn\nimport graphtrial as gt\n\n@gt.MODELS.register('fuzzed')\nclass Mine(gt.Conv):\n"
    "    'A layer.'\n    def __init__(self, width: int, factor: float = 1.0):\n        super().__init__()\n"
    "        self.linear = nn.Linear(width, width)\n        self.factor = factor\n"
    "    def forward(self, graph, x, e):\n        return self.factor * self.linear(x), e\n"
)
BLOCK = (
    "gdb_2\n  -OEChem-\n\n  4  3  0     0  0  0  0  0  0999 V2000\n"
    "   -0.0404    1.0241    0.0626 N   0  0  0  0  0  0  0  0  0  0  0  0\n"
    "    0.0173    0.0125   -0.0274 H   0  0  0  0  0  0  0  0  0  0  0  0\n"
    "    0.9158    1.3587   -0.0288 H   0  0  0  0  0  0  0  0  0  0  0  0\n"
    "   -0.5203    1.3435   -0.7755 H   0  0  0  0  0  0  0  0  0  0  0  0\n"
    "  1  2  1  0  0  0  0\n  1  3  1  0  0  0  0\n  1  4  1  0  0  0  0\nM  END\n"
)


def _tar(members: Files) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as built:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            built.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def _zip(members: Files) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as built:
        for name, content in members.items():
            built.writestr(name, content)
    return stream.getvalue()


def _saved(write: Callable[[Path], object], *names: str) -> Files:
    """Return the files that a function writes to a folder."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        return {name: (Path(folder) / name).read_bytes() for name in names}


def _cifar_members(python: bool) -> Files:
    rng = np.random.default_rng(0)
    built = {}
    for name in [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]:
        pixels, classes = rng.integers(0, 2, (1, 3072), np.uint8), [int(rng.integers(10))]
        if python:
            built[f"cifar-10-batches-py/{name}"] = pickle.dumps({"data": pixels, "labels": classes}, 2)
        else:
            built[f"cifar-10-batches-bin/{name}.bin"] = bytes(classes) + pixels.tobytes()
    return built


def _idx() -> Files:
    return {"images.gz": gzip.compress(bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3]) + bytes(range(12)))}


def _wikics() -> Files:
    rng = np.random.default_rng(0)
    nodes = 6
    masks = rng.integers(0, 2, (2, nodes)).astype(bool).tolist()
    data = {"features": rng.normal(size=(nodes, 4)).round(2).tolist(), "labels": [0, 1, 2, 9, 4, 5]}
    data |= {"links": [[1, 2], [0], [], [5], [3], [0, 1]], "test_mask": masks[0]}
    return {"data.json": json.dumps(data | {f"{name}_masks": masks for name in ("train", "val", "stopping")}).encode()}


def _sql(path: Path) -> list[dict[str, object]]:
    def choose(columns: list[str]) -> list[Wanted]:
        from graphtrial.core.errors import CorruptFileError

        if not {"a", "b"} <= set(columns):
            raise CorruptFileError("the table has other columns")
        return [Wanted("a", "int"), Wanted("b", "text", True)]

    return list(read_table(path, "t", choose, Counts(), lambda amount=1.0: None))


def _columns() -> GraphSet:
    columns = {"x": Column(np.array([0, 1, 2, 0, 1]), "node", types=3), "y": Column(np.array([0.5, 1.5]), "graph")}
    return GraphSet.build([3, 2], [2, 1], np.array([[0, 1, 0], [1, 2, 1]]), columns)


def _open_columns(folder: Path) -> GraphSet:
    opened = GraphSet.open(folder)
    return GraphSet.build(opened.node_counts, opened.edge_counts, opened.edge_index, dict(opened.columns))


def _column_files() -> Files:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        _columns().save(Path(folder) / "set")
        return {path.name: path.read_bytes() for path in sorted((Path(folder) / "set").iterdir())}


def _state(folder: Path) -> None:
    state = Checkpoint(folder / "checkpoint.safetensors")
    state.save({"weight": torch.arange(6.0), "steps": torch.tensor(3)}, {"epoch": 1, "history": [{"a": 1.5}]})


def _database(folder: Path) -> None:
    store = Store(folder / "store.sqlite")
    study = Study("s", "csl", (ModelEntry("gcn", {"width": 8, "layers": 2}),), seeds=1, splits=1)
    store.start(study.trials()[0], "accuracy", True, {"cpu": "x"})
    with sqlite3.connect(store.path) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()


def _read_store(folder: Path) -> object:
    store = Store(folder / "store.sqlite")
    return [store.history(record.id) for record in store.trials()]


def _npz() -> Files:
    import scipy.sparse

    links = scipy.sparse.csr_matrix(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], np.float32))
    words = scipy.sparse.csr_matrix(np.eye(3, 4, dtype=np.float32))
    stream = io.BytesIO()
    arrays = {
        f"{name}_{key}": getattr(m, key)
        for name, m in (("adj", links), ("attr", words))
        for key in ("data", "indices", "indptr")
    }
    np.savez(stream, **arrays, adj_shape=links.shape, attr_shape=words.shape, labels=np.array([0, 1, 2]))
    return {"citations.npz": stream.getvalue()}


def _torch_zip() -> Files:
    stream = io.BytesIO()
    torch.save([{"edge_index": torch.tensor([[0, 1], [1, 2]]), "x": torch.ones(3, 2), "y": torch.tensor([1])}], stream)
    return {"graphs.pt": stream.getvalue()}


def _graphml(folder: Path) -> None:
    graph = nx.path_graph(3)
    graph.graph["y"] = "red"
    nx.write_graphml(graph, folder / "graphs.graphml")


def _gml(folder: Path) -> None:
    graph = nx.path_graph(3)
    graph.graph["y"] = 1
    nx.write_gml(graph, folder / "graphs.gml")


def _node_link() -> Files:
    graph = nx.path_graph(3)
    graph.graph["y"] = [0.5, None]
    return {"graphs.json": json.dumps([nx.node_link_data(graph, edges="edges")] * 2).encode()}


def _hub(folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    row = {"edge_index": [[0, 1], [1, 0]], "edge_attr": [[1], [2]], "node_feat": [[0, 1], [2, 3]], "y": [[1.0, None]]}
    rows = [{**row, "num_nodes": 2, "split": part} for part in ("train", "val", "test")]
    pq.write_table(pa.Table.from_pylist(rows), folder / "graphs.parquet")


def _exported(folder: Path) -> None:
    from graphtrial.datasets import load
    from graphtrial.datasets.export import export

    export(load("csl"), folder, "parquet")


def _parquet(folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(LINES), folder / "graphs.parquet")


def _load_plugin(folder: Path) -> None:
    unload_plugin(load_plugin(folder / "mine.py"))


def _pickled() -> Files:
    values = {"a": [1, 2.5, "x", b"y", None, True], "m": np.arange(6).reshape(2, 3), "t": (1, (2, 3)), "s": {4, 5}}
    return {"data.pickle": pickle.dumps(values, 4)}


def _index() -> Files:
    return {
        "train.index": b"0,2,1\n",
        "test.index": b"3\n5\n4\n",
        "left_out.txt": b"h\n" * 9 + b"  21  C  x\n 58 N y\nend\n",
    }


def _read_index(folder: Path) -> object:
    chosen = zinc.read_index(folder / "train.index", 3, 5)
    return (
        chosen,
        planetoid_reader.read_test_index(folder / "test.index"),
        qm9_reader.read_uncharacterised(folder / "left_out.txt"),
    )


def _smiles() -> Files:
    table = b'ID,Name,SMILES,Solubility\nA-1,"a, b",CCO,-0.5\nA-2,c,c1ccccc1O,1.25\nA-3,d,[Na+].[Cl-],0\n'
    lists = {
        "train.txt.gz": gzip.compress(b"CCO\nc1ccccc1\nCC(=O)N\n"),
        "valid.txt": b"c1ccccc1\n",
        "test.txt": b"CC(=O)N\n",
    }
    return {"table.csv": table, **lists}


def _read_smiles(folder: Path) -> object:
    raw = {zinc.ALL.name: "train.txt.gz", zinc.VALID.name: "valid.txt", zinc.TEST.name: "test.txt"}
    lists = zinc.smiles_lists({name: folder / file for name, file in raw.items()})
    chemistry = Chemistry("zinc")
    built = [zinc.molecule_of(smiles, chemistry) for part in lists.values() for smiles in part]
    return aqsol.from_table(folder / "table.csv"), built


def _tours() -> Files:
    return {"tours.txt": b"0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 0.1 output 1 3 2 4 5 1 \n" * 2}


def _recipe() -> Files:
    facts = {
        "name": "mine",
        "kind": "jsonl",
        "title": "t",
        "files": [{"name": "a.jsonl", "sha256": "0" * 64, "size": 3}],
    }
    return {"own/mine.json": json.dumps(facts).encode()}


READERS: dict[str, Reader] = {
    "TU text": Reader(lambda: TU_FILES, lambda folder: read_folder(folder, "S"), gaps=True),
    "TU zip": Reader(lambda: {"set.zip": _zip(TU_FILES)}, lambda folder: read_own("tu", [folder / "set.zip"], {})),
    "tar.gz": Reader(
        lambda: {"a.tar.gz": _tar({"d/one": b"1" * 100, "d/two": b"22"})},
        lambda folder: archive.unpack(
            folder / "a.tar.gz", ["d/one", "d/two"], folder / "out", member_bytes=1000, total_bytes=2000
        ),
    ),
    "idx": Reader(_idx, lambda folder: idx.read_idx(folder / "images.gz")),
    "CIFAR binary": Reader(
        lambda: {"c.tar.gz": _tar(_cifar_members(False))}, lambda folder: cifar.read_cifar_binary(folder / "c.tar.gz")
    ),
    "CIFAR python": Reader(
        lambda: {"c.tar.gz": _tar(_cifar_members(True))}, lambda folder: cifar.read_cifar_python(folder / "c.tar.gz")
    ),
    "SMILES": Reader(_smiles, _read_smiles, "rdkit"),
    "mol block": Reader(
        lambda: {"a.mol": BLOCK.encode()},
        lambda folder: StructureReader("qm9").from_mol_block((folder / "a.mol").read_text("latin-1")),
        "rdkit",
    ),
    "index files": Reader(_index, _read_index),
    "data.json": Reader(_wikics, lambda folder: wikics.read_data(folder / "data.json")),
    "SQL dump": Reader(lambda: {"t.sql": SQL.encode()}, lambda folder: _sql(folder / "t.sql"), "pyarrow"),
    "SQL dump, packed": Reader(
        lambda: {"t.sql.gz": gzip.compress(SQL.encode())}, lambda folder: _sql(folder / "t.sql.gz"), "pyarrow"
    ),
    "XML dump": Reader(
        lambda: {"p.xml": XML.encode()},
        lambda folder: list(read_pages(folder / "p.xml", PageCounts(), lambda amount=1.0: None)),
    ),
    "study": Reader(lambda: {"s.toml": STUDY.encode()}, lambda folder: load_study(str(folder / "s.toml")).trials()),
    "plug-in": Reader(lambda: {"mine.py": PLUGIN.encode()}, _load_plugin),
    "columns": Reader(_column_files, _open_columns, gaps=True),
    "state": Reader(
        lambda: _saved(_state, "checkpoint.safetensors"),
        lambda folder: Checkpoint(folder / "checkpoint.safetensors").load(),
    ),
    "store": Reader(lambda: _saved(_database, "store.sqlite"), _read_store),
    "pickle": Reader(_pickled, lambda folder: unpickle.load(folder / "data.pickle")),
    "torch file": Reader(_torch_zip, lambda folder: read_own("pyg", [folder / "graphs.pt"], {})),
    "npz": Reader(_npz, lambda folder: planetoid_reader.read_npz(folder / "citations.npz")),
    "JSON lines": Reader(
        lambda: {"g.jsonl": "\n".join(map(json.dumps, LINES)).encode()},
        lambda folder: read_own("jsonl", [folder / "g.jsonl"], {}),
    ),
    "GraphML": Reader(
        lambda: _saved(_graphml, "graphs.graphml"),
        lambda folder: read_own("graphml", [folder / "graphs.graphml"], {"target": "y"}),
    ),
    "GML": Reader(
        lambda: _saved(_gml, "graphs.gml"), lambda folder: read_own("gml", [folder / "graphs.gml"], {"target": "y"})
    ),
    "node-link JSON": Reader(
        _node_link, lambda folder: read_own("node-link", [folder / "graphs.json"], {"target": "y"})
    ),
    "CSV tables": Reader(
        lambda: CSV_TABLES, lambda folder: read_own("csv", sorted(folder.glob("*.csv")), {}), gaps=True
    ),
    "Parquet of the hub": Reader(
        lambda: _saved(_hub, "graphs.parquet"),
        lambda folder: read_own("parquet", [folder / "graphs.parquet"], {}),
        "pyarrow",
    ),
    "exported Parquet": Reader(
        lambda: _saved(_exported, "graphs.parquet"),
        lambda folder: read_own("parquet", [folder / "graphs.parquet"], {}),
        "pyarrow",
    ),
    "edge list": Reader(
        lambda: {"e.edges": b"0 1\n1 2\n2 0\n", "l.txt": b"0 red\n1 blue\n2 red\n"},
        lambda folder: read_own("edgelist", [folder / "e.edges", folder / "l.txt"], {}),
    ),
    "Parquet": Reader(
        lambda: _saved(_parquet, "graphs.parquet"),
        lambda folder: read_own("parquet", [folder / "graphs.parquet"], {}),
        "pyarrow",
    ),
    "tours": Reader(_tours, lambda folder: list(read_tours(folder / "tours.txt", 5))),
    "recipe": Reader(_recipe, lambda folder: recipe.read("mine")),
}
