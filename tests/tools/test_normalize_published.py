"""The normalised files match the script's output, and no transcribed row is lost."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from graphtrial.nn import resolve_settings
from graphtrial.published import PAPERS, PublishedResult, configurations, published_results
from graphtrial.published.papers import TABLES
from tools.normalize_published.__main__ import take_over
from tools.normalize_published.modern_results import ERRATA
from tools.normalize_published.raw import FOLDER, PACKAGE, plain, printed_rows, read_csv
from tools.normalize_published.write import normalized_files

RAW = sorted(f"raw/{path.name}" for path in (FOLDER / "raw").glob("*.csv") if not path.name.startswith("modern_"))
LINES_PER_TABLE = {
    "bgnn-v1": {2: 54, 3: 40, 4: 20, 5: 32, 6: 19, 7: 24, 8: 48, 11: 96, 12: 20, 13: 9, 14: 5, 15: 7},
    "bgnn-v5": {
        **{3: 50, 4: 54, 5: 26, 6: 18, 7: 56, 8: 88, 9: 33},
        **{10: 32, 11: 16, 12: 28, 13: 56, 14: 32, 15: 24, 16: 108},
    },
    "wikics": {2: 5, 3: 6, 4: 6},
    "tudataset": {1: 36, 2: 25, 3: 10},
}


def in_tables() -> list[PublishedResult]:
    """Return the rows of tables whose layout is known."""
    return [row for row in published_results() if (row.paper, row.table) in TABLES]


@pytest.mark.slow
def test_committed_files_match_the_script() -> None:
    written = normalized_files()
    assert {path.name for path in PACKAGE.glob("*.json*")} == set(written)
    for name, text in written.items():
        assert (PACKAGE / name).read_bytes() == text.encode(), f"run `python -m tools.normalize_published`: {name}"


def test_every_transcribed_score_is_there() -> None:
    lines = read_csv("raw/results.csv")
    counted = Counter((line["paper"], int(line["table"])) for line in lines)
    assert counted == {(paper, n): lines for paper, tables in LINES_PER_TABLE.items() for n, lines in tables.items()}
    assert Counter(line["status"] for line in lines) == {"ok": 1002, "not-used": 39, "diverged": 26, "oom": 16}
    assert [len(read_csv(name)) for name in RAW] == [307, 44, 441, 1083, 10]
    assert sum("DOUBTFUL" in line["note"] for line in lines) == 13
    assert sum(line["inferred"] == "true" for line in lines) == 285


def test_every_score_is_in_one_result_with_its_digits() -> None:
    printed = Counter(
        (line["paper"], int(line["table"]), line["dataset"], line["label_in_paper"], line["split"], float(line["mean"]))
        for line in read_csv("raw/results.csv")
        if line["mean"]
    )
    ours = Counter(
        (row.paper, row.table, row.printed.dataset, row.label, split, score.mean)
        for row in in_tables()
        for split in ("test", "train", "val")
        if (score := getattr(row, split)) is not None
    )
    assert ours == printed
    assert len(in_tables()) == len(printed_rows())
    assert all((row.test is None) == (row.status != "ok") for row in published_results())


def test_every_row_has_a_model_or_a_reason() -> None:
    for row in in_tables():
        assert row.models or row.reason, row
        assert row.datasets, row
        assert not row.reason or row.test is None, row
        for model in row.models:
            if "width" in model.settings:
                assert model.settings.items() <= resolve_settings(model.name, dict(model.settings)).items()


def test_papers_and_tables_match_the_results() -> None:
    named = [row.paper for row in published_results()] + [config.paper for config in configurations()]
    assert set(PAPERS) == set(named)
    assert list(TABLES) == list(dict.fromkeys((row.paper, row.table) for row in in_tables()))


def test_every_modern_result_is_there_with_its_digits_and_origin() -> None:
    lines = read_csv("raw/modern_results.csv")
    rows = [row for row in published_results() if (row.paper, row.table) not in TABLES]
    assert len(rows) == len(lines) == 736
    transcribed = Counter((line["dataset"], line["model"], float(line["mean"]), line["sd"]) for line in lines)
    assert transcribed == Counter((*_printed(row), row.test.text.partition("±")[2]) for row in rows if row.test)
    assert Counter(row.origin for row in rows) == {
        **{"own": 302, "quoted": 308, "leaderboard": 92, "rebuttal": 23, "issue": 3, "unclear": 8},
    }
    own = sum(line["origin"] == "own" for line in lines)
    assert own == 328 == 302 + 23 + 3  # rebuttals and issues are somebody's own, too
    assert all(row.citation for row in rows)


def _printed(row: PublishedResult) -> tuple[str, str, float]:
    assert row.test is not None
    return row.printed.dataset, row.printed.model, row.test.mean


def test_a_modern_result_is_compared_only_where_its_model_is_known_exactly() -> None:
    rows = [row for row in published_results() if (row.paper, row.table) not in TABLES]
    released = {config.source: config for config in configurations()}
    for row in rows:
        assert (row.reason is None) == (row.params_exact is not None)
        if row.reason is None:
            config = released[row.source]
            assert (row.printed.dataset, row.params_exact) == (config.printed.dataset, config.params)
            assert (row.models[0].name, row.models[0].settings) == (config.model, config.settings)
            assert row.protocol == config.protocol
    assert sum(row.reason is None for row in rows) == 138


def test_errata_of_modern_results_are_used() -> None:
    rows = [row for row in published_results() if (row.paper, row.table) not in TABLES]
    assert {(row.label, row.printed.dataset) for row in rows if row.erratum} == set(ERRATA)


def test_transcriptions_are_taken_over_from_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "raw").mkdir()
    for name in ("configs.csv", "results.csv"):
        (tmp_path / name).write_text("model,notes,dataset\nGPS,a remark,ZINC\n", encoding="utf-8")
    monkeypatch.setattr("tools.normalize_published.__main__.FOLDER", tmp_path)
    take_over(tmp_path)
    assert (tmp_path / "raw/modern_configs.csv").read_bytes() == b"model,dataset\nGPS,ZINC\n"


def test_solved_sizes_have_a_reason_and_are_used() -> None:
    for line in read_csv("solved_sizes.csv"):
        used = [
            row for row in published_results() if row.params == int(line["published"]) and row.source == line["source"]
        ]
        assert used, line
        for row in used:
            (model,) = row.models
            stated = json.loads(line["settings"])
            assert stated.items() <= resolve_settings(model.name, dict(model.settings)).items()


@pytest.mark.parametrize("name", RAW)
def test_notes_mention_no_source_files(name: str) -> None:
    speaks_of_files = re.compile(
        r"extraction|\bin 000\b|(?<![.\d])00[0-4]\b|\.txt|\.csv|\.sh\b|\.json|rowspan|scripts/", re.IGNORECASE
    )
    for line in read_csv(name):
        assert not [value for value in line.values() if speaks_of_files.search(value)]
    assert not {"source_file", "source_line", "config", "script"} & set(read_csv(name)[0])


def test_names_are_compared_without_case_and_hyphens() -> None:
    assert plain("GCN-vanilla") == plain("gcn_Vanilla") == "gcnvanilla"
