"""The committed results of table 1 of TUDataset: the page matches the numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphtrial.datasets import load
from graphtrial.published import find_published

FOLDER = Path(__file__).parents[2] / "docs" / "results"
FACTS = json.loads((FOLDER / "tudataset-table-1.json").read_text(encoding="utf-8"))
PAGE = (FOLDER / "tudataset-table-1.md").read_text(encoding="utf-8")
ROWS = FACTS["rows"]


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['dataset']}-{row['kernel']}" for row in ROWS])
def test_every_cell_is_near_the_published_score_or_explained(row: dict) -> None:
    published = find_published("tudataset", row["dataset"].lower(), row["kernel"], {}, None)
    assert published is not None
    assert published.test is not None
    printed = published.test.mean, published.test.std, published.test.std_all_runs
    assert tuple(row["published"].values()) == printed
    assert row["runs"] == 10 * row["repetitions"]
    assert row["difference"] == pytest.approx(row["mean"] - published.test.mean, abs=0.011)
    assert row["in_published_sd"] == pytest.approx(row["difference"] / published.test.std_all_runs, abs=0.006)
    assert abs(row["in_published_sd"]) <= 2 or row["explanation"]
    name = f"| {row['dataset']} | {row['label']} | `{row['kernel']}` |"
    assert f"{name} {row['repetitions']} | {row['mean']:.1f} ±" in PAGE
    for chosen in (row["chosen_penalty"], row["chosen_h"] or row["chosen_penalty"]):
        assert sum(chosen.values()) == row["runs"]


def test_every_cell_occurs_once() -> None:
    cells = [(row["dataset"], row["kernel"]) for row in ROWS]
    assert len(set(cells)) == len(cells)
    for dataset in FACTS["data"]:
        assert {kernel for name, kernel in cells if name == dataset} == {"wl", "wl-oa", "graphlet", "shortest-path"}


def test_results_match_the_dataset_hashes(mirror: Path) -> None:
    assert load("enzymes+labels").hash == FACTS["data"]["ENZYMES"]
    assert load("imdb-binary").hash == FACTS["data"]["IMDB-BINARY"]
