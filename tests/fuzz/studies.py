"""Studies of the catalog and small ones, in which values, keys and tables are replaced, doubled or left out."""

from __future__ import annotations

import copy
import json
import math
import random
from pathlib import Path
from typing import Any

import tomllib
from tests.fuzz.world import STUDY

from graphtrial.studies.study_files import catalog

VALUES: list[Any] = [
    *(0, 1, -1, 2, 10**12, 2**63 - 1, -(2**63), 1.5, 0.0, -0.0, 1e308, math.nan, math.inf, -math.inf, True, False),
    *(
        "",
        "0",
        "x",
        "csl",
        "gcn",
        "none",
        "laplacian:4",
        "laplacian:x",
        "a" * 5000,
        "é☃",
        "\n",
        "*",
        "os:system",
        "bgnn-v5/*",
    ),
    *([], [1], [[1]], ["x"], [True], [math.nan], ["none", "laplacian:2"], [[]], [{}], list(range(50)), {}, {"a": 1}),
    *({"lr": "x"}, {"stopping.max_epochs": True}, {"layers": [1, 2]}, {"width": []}, {"x": {"y": {"z": []}}}),
]
KEYS = ["title", "dataset", "datasets", "seeds", "splits", "rules", "protocol", "published", "also", "models", "paper"]
KEYS += [
    "name",
    "encoding",
    "budget",
    "grid",
    "width",
    "layers",
    "dropout",
    "heads",
    "readout",
    "lr",
    "x",
    "",
    "a.b",
    '"',
]


def texts() -> list[tuple[str, dict[str, Any]]]:
    """Return sound studies: those of the catalog, and a small one whose trials can be listed."""
    small = ("study.toml", tomllib.loads(STUDY))
    return [small] * 20 + [(name, tomllib.loads(path.read_text(encoding="utf-8"))) for name, path in catalog().items()]


def spoil(study: dict[str, Any], rng: random.Random) -> str:
    """Return the text of a study with one to three changes."""
    spoilt = copy.deepcopy(study)
    for _ in range(rng.choice([1, 1, 2, 3])):
        tables = list(_tables(spoilt))
        table = rng.choice(tables[:4] if rng.random() < 0.5 else tables)
        way = rng.random()
        if way < 0.15 and table:
            del table[rng.choice(sorted(table))]
        elif way < 0.7 and table:
            table[rng.choice(sorted(table))] = copy.deepcopy(rng.choice(VALUES))
        else:
            table[rng.choice(KEYS)] = copy.deepcopy(rng.choice(VALUES))
    return "".join(f"{_key(key)} = {_toml(value)}\n" for key, value in spoilt.items())


def _tables(value: Any) -> Any:
    if isinstance(value, dict):
        yield value
        for each in value.values():
            yield from _tables(each)
    elif isinstance(value, list):
        for each in value:
            yield from _tables(each)


def _key(key: str) -> str:
    return json.dumps(key)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)} = {_toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(each) for each in value) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return json.dumps(value)


def study_line(rng: random.Random, registered: list[tuple[str, dict[str, Any]]]) -> list[str]:
    """Write a spoilt study and return the words of a command that reads it, training at most one epoch."""
    name, study = rng.choice(registered)
    Path("spoilt.toml").write_text(spoil(study, rng), encoding="utf-8", errors="surrogatepass")
    if name != "study.toml" or rng.random() < 0.5:
        return ["validate", "spoilt.toml", *(["--json"] if rng.random() < 0.3 else [])]
    return ["study", "spoilt.toml", "--dry-run", *(["--json"] if rng.random() < 0.5 else ["--store", "store.sqlite"])]
