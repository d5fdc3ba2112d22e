"""A small world for commands to fail in: files of every kind, a dataset of one's own, a store with a result."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.helpers.cli import CliRunner

from graphtrial.cli.main import app

TINY = "tiny-rings"
STUDY = (
    f'title = "t"\ndataset = "{TINY}"\nprotocol = "bgnn-v5/csl"\nseeds = 1\nsplits = 1\n'
    "rules = {stopping.max_epochs = 1}\n"
    '[[models]]\nname = "gcn"\nwidth = 8\nlayers = 1\nencoding = ["none", "laplacian:2"]\n'
)
PLUGIN = (
    "import graphtrial as gt\nfrom torch import nn\n@gt.MODELS.register('mine')\nclass Mine(gt.Conv):\n    'A layer.'\n"
    "    def __init__(self, width: int):\n        super().__init__()\n        self.map = nn.Linear(width, width)\n"
    "    def forward(self, graph, x, e):\n        return self.map(x), e\n"
)
LINES = "".join(json.dumps({"nodes": 3, "edges": [[0, 1], [1, 2]], "y": n % 2}) + "\n" for n in range(20))


def build_world() -> None:
    """Fill the current folder and prepare the dataset; called in a folder and a cache of its own."""
    texts = {
        "study.toml": STUDY,
        "plugin.py": PLUGIN,
        "graphs.jsonl": LINES,
        "junk.toml": "title = ",
        "junk.py": "def (",
    }
    texts |= {"junk.sqlite": "no store", "graphs.edgelist": "a b\nb c\n", "nodes.txt": "a 0\nb 1\nc 0\n", "empty": ""}
    for name, text in texts.items():
        Path(name).write_text(text, encoding="utf-8")
    Path("junk.pt").write_bytes(b"PK\x03\x04" + bytes(range(256)))
    Path("folder").mkdir()
    os.mkfifo("pipe")
    for ending in ("jsonl", "toml", "pt", "sqlite", "py"):
        os.mkfifo(f"pipe.{ending}")
    call = CliRunner().invoke
    words = ["data", "generate", "csl", "--name", TINY, "--nodes", "8", "--skips", "2,3", "--copies", "5"]
    built = call(app, [*words, "--replace"])
    assert built.exit_code == 0, built.output
    built = call(app, ["study", "study.toml", "--store", "store.sqlite", "--workers", "0"])
    assert built.exit_code == 0, built.output
