"""The published scores: complete, unchanged, and found for the trial they answer to."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from graphtrial.core.errors import GraphTrialError, UnknownNameError
from graphtrial.published import find, rows, table
from graphtrial.published.tables import TABLES

LINES_PER_TABLE = {
    "bgnn-v1": {2: 54, 3: 40, 4: 20, 5: 32, 6: 19, 7: 24, 8: 48, 11: 96, 12: 20, 13: 9, 14: 5, 15: 7},
    "bgnn-v5": {
        **{3: 50, 4: 54, 5: 26, 6: 18, 7: 56, 8: 88, 9: 33},
        **{10: 32, 11: 16, 12: 28, 13: 56, 14: 32, 15: 24, 16: 108},
    },
    "wikics": {2: 5, 3: 6, 4: 6},
    "tudataset": {1: 36, 2: 25, 3: 10},
}
LAPLACIAN = ("laplacian", 20, "random")
MAGNITUDES = ("laplacian", 20, "absolute")


def test_every_printed_score_is_there() -> None:
    counted = Counter((line["paper"], int(line["table"])) for line in table("results"))
    assert counted == {(paper, n): lines for paper, tables in LINES_PER_TABLE.items() for n, lines in tables.items()}
    assert Counter(line["status"] for line in table("results")) == {
        "ok": 1002,
        "not-used": 39,
        "diverged": 26,
        "oom": 16,
    }
    assert [len(table(name)) for name in ("datasets", "hyperparameters", "wikics_classes", "configs")] == [
        44,
        441,
        10,
        307,
    ]


def test_test_and_train_lines_of_a_row_are_merged() -> None:
    merged = rows()
    scores = sum(score is not None for row in merged for score in (row.test, row.train, row.val))
    assert scores == sum(bool(line["mean"]) for line in table("results"))
    assert len(merged) == sum(line["split"] == "test" for line in table("results"))
    assert all((row.test is None) == (row.status != "ok") for row in merged)


def test_a_row_has_the_numbers_of_the_paper() -> None:
    row = find("zinc", "gcn", layers=4)
    assert row is not None
    assert (row.paper, row.table, row.params, row.metric, row.higher_is_better) == ("bgnn-v5", 3, 103077, "MAE", False)
    assert (row.epochs, row.epoch_seconds, row.total_hours) == (159.5, 1.53, 0.07)
    assert row.test is not None
    assert row.train is not None
    assert (row.test.mean, row.test.sd, row.test.n, row.test.printed) == (0.416, 0.006, 4, "0.416±0.006")
    assert (row.train.mean, row.train.sd) == (0.313, 0.011)


@pytest.mark.parametrize(
    ("dataset", "model", "keywords", "printed"),
    [
        ("zinc", "mlp", {}, "0.706±0.006"),
        ("zinc", "gcn-vanilla", {"layers": 4}, "0.459±0.006"),
        ("zinc", "gin", {"layers": 4}, "0.387±0.015"),
        ("zinc", "gatedgcn", {"layers": 4}, "0.435±0.011"),
        ("zinc", "gatedgcn", {"layers": 4, "edge_features": True}, "0.375±0.003"),
        ("zinc", "gcn", {"layers": 16}, "0.278±0.003"),
        ("zinc", "gcn", {"params": 505079}, "0.278±0.003"),
        ("ZINC", "GCN", {"params": 103077}, "0.416±0.006"),
        (
            "zinc",
            "gatedgcn",
            {"layers": 16, "edge_features": True, "encoding": ("laplacian", 8, "random")},
            "0.214±0.013",
        ),
        ("zinc", "gatedgcn", {"layers": 16, "encoding": ("laplacian", 8, "fixed")}, "0.319±0.010"),
        ("csl", "gatedgcn", {"encoding": LAPLACIAN}, "99.767±0.394"),
        ("csl", "gatedgcn", {"encoding": MAGNITUDES}, "99.600±1.083"),
        ("csl", "gatedgcn", {"encoding": ("node-order", None, "fixed")}, "10.533±4.469"),
        ("csl", "mlp", {"encoding": MAGNITUDES}, "22.567±6.089"),
        ("csl", "3wlgnn", {"params": 506106}, "97.800±10.916"),
        ("csl", "ringgnn", {"params": 500000, "encoding": MAGNITUDES}, "25.167±7.399"),
        ("cycles", "gin", {"train_size": 200}, "70.585±0.636"),
        ("graph-theory-prop", "gatedgcn", {"layers": 8}, "-3.22±0.13"),
        ("zinc", "gcn-vanilla", {"paper": "bgnn-v1"}, "0.469±0.002"),
    ],
)
def test_the_row_for_a_trial(dataset: str, model: str, keywords: dict, printed: str) -> None:
    row = find(dataset, model, **keywords)
    assert row is not None
    assert row.test is not None
    assert row.test.printed == printed


@pytest.mark.parametrize("model", ["gcn", "gcn-vanilla", "gin", "gatedgcn", "graphsage", "gat", "monet"])
def test_csl_without_encoding_is_one_row_for_all_message_passing_models(model: str) -> None:
    row = find("csl", model, layers=4, params=104007)
    assert row is not None
    assert (row.label, row.table, row.test.mean if row.test else None) == ("All MP-GCNs", 10, 10.0)
    assert row.params == 100_000
    assert row.model_params is None  # a round number for all of them says nothing of one


@pytest.mark.parametrize(
    ("dataset", "model", "keywords"),
    [
        ("csl", "mlp", {}),
        ("csl", "gatedgcn", {"encoding": ("laplacian", 10, "random")}),
        ("csl", "gatedgcn", {"encoding": ("random-walk", 20, None)}),
        ("csl", "gatedgcn", {"encoding": LAPLACIAN, "layers": 8}),
        ("csl", "gatedgcn", {"encoding": LAPLACIAN, "edge_features": True}),
        ("zinc", "gcn", {"layers": 5}),
        ("zinc", "gcn", {"encoding": ("laplacian", 8, "random")}),
        ("zinc", "gatedgcn", {"layers": 16, "encoding": ("laplacian", 8, "random")}),
        ("cycles", "gin", {"train_size": 9000}),
        ("cycles", "gin", {}),
        ("no-such-dataset", "gcn", {}),
        ("zinc", "no-such-model", {}),
    ],
)
def test_no_row_where_depth_encoding_edges_or_data_differ(dataset: str, model: str, keywords: dict) -> None:
    assert find(dataset, model, **keywords) is None


def test_main_tables_come_before_studies() -> None:
    found = find("pattern", "gatedgcn", layers=16)
    assert found is not None
    assert found.table == 8


def test_a_diverged_row_has_no_score() -> None:
    row = find("zinc", "ringgnn", layers=8, edge_features=True)
    assert row is not None
    assert (row.status, row.test) == ("diverged", None)


def test_unknown_paper_and_table_say_what_is_known() -> None:
    with pytest.raises(GraphTrialError, match="bgnn-v5"):
        find("zinc", "gcn", paper="bgnn-v9")
    with pytest.raises(UnknownNameError, match="Did you mean 'results'"):
        table("result")


def test_rows_can_be_narrowed() -> None:
    found = rows(paper="bgnn-v5", table=3, dataset="zinc", model="gatedgcn")
    assert [(row.layers, row.params) for row in found] == [(4, 105735), (4, 105875), (16, 504309), (16, 505011)]


@pytest.mark.parametrize("name", TABLES)
def test_notes_speak_to_the_reader_of_a_table(name: str) -> None:
    speaks_of_files = re.compile(
        r"extraction|\bin 000\b|(?<![.\d])00[0-4]\b|\.txt|\.csv|\.sh\b|\.json|rowspan|scripts/", re.IGNORECASE
    )
    for line in table(name):
        assert not [value for value in line.values() if speaks_of_files.search(value)]
    assert not {"source_file", "source_line", "config", "script"} & set(table(name)[0])


def test_doubtful_cells_say_so() -> None:
    assert sum("DOUBTFUL" in line["note"] for line in table("results")) == 13
    assert sum(line["inferred"] == "true" for line in table("results")) == 285
