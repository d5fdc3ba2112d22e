"""Every number of parameters that the papers print or their released configurations have, built again."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from functools import cache

import pytest
from tests.helpers.cli import CliRunner

from graphtrial.cli.main import app
from graphtrial.datasets import DATASETS, load
from graphtrial.encodings import ENCODINGS
from graphtrial.nn import MODELS, count_parameters
from graphtrial.nn.registry import build_model
from graphtrial.published.counts import ParameterCheck, parameter_checks
from graphtrial.published.shapes import lookup_shapes, published_shapes, shape_lines
from graphtrial.trials.shapes import shapes_for
from tools.normalize_published.raw import plain, read_csv

pytestmark = pytest.mark.slow  # whichever test comes first builds a model for each number

PRINTED_WRONGLY = {("bgnn-v1", "CIFAR10", "MLP")}
NO_COUNT = {("bgnn-v5", "CSL", "All-MP-GCNs")}


@cache
def cells() -> list[ParameterCheck]:
    """Return every printed number beside the one that we build."""
    return parameter_checks()


def printed() -> list[ParameterCheck]:
    return [cell for cell in cells() if isinstance(cell.table, int)]


def released() -> list[ParameterCheck]:
    return [cell for cell in cells() if isinstance(cell.table, str)]


def row(cell: ParameterCheck) -> tuple[str, str, str]:
    return cell.paper, cell.dataset, cell.model


def test_every_printed_count_has_one_entry() -> None:
    lines = [line for line in read_csv("raw/results.csv") if line["params"] and line["split"] == "test"]
    papers = ("bgnn-v1", "bgnn-v5")
    assert sorted(int(line["params"]) for line in lines if line["paper"] in papers) == sorted(
        cell.published for cell in printed() if cell.published
    )
    assert len(printed()) == 569


def test_there_is_one_cell_per_released_configuration_of_a_modern_model() -> None:
    lines = read_csv("raw/modern_configs.csv")
    transcribed = {(line["source_repo"], line["source_path"]): line["params_exact"] for line in lines}
    counts = {(cell.source, cell.table): str(cell.published or "") for cell in released()}
    assert counts == transcribed
    assert len(lines) == len(released()) == 298


def test_every_released_count_is_met_exactly_and_the_others_have_a_reason() -> None:
    exact = [cell for cell in released() if cell.published is not None]
    assert len(exact) == 266
    assert [(cell.source, cell.table, cell.published, cell.built) for cell in exact if not cell.match] == []
    without = Counter(cell.reason for cell in released() if cell.published is None)
    assert sum(without.values()) == 32
    assert {cell.built for cell in released() if cell.published is None} == {None}
    unknown = [reason for reason in without if reason and "is not among ours" in reason]
    assert sum(without[reason] for reason in unknown) == 30
    datasets = {plain(cell.dataset) for cell in released() if cell.reason in unknown}
    assert not datasets & {plain(name) for name in DATASETS.names()}
    assert {reason.partition(":")[0] for reason in without if reason and reason not in unknown} == {
        "the released code cannot build it",
        "the model of the main branch needs fairseq, and was not built; that of version 1.0 has 489,481 parameters",
    }


def test_counts_match_exactly_except_for_errata() -> None:
    missed = [cell for cell in printed() if not cell.match]
    assert {row(cell) for cell in missed} == PRINTED_WRONGLY | NO_COUNT
    assert len(missed) == 9
    for cell in missed:
        assert cell.reason
        assert cell.reason.startswith("printed")
        assert cell.built == (104380 if row(cell) in PRINTED_WRONGLY else None)
    assert all(cell.reason is None and cell.source and cell.settings for cell in cells() if cell.match)
    assert not [cell for cell in cells() if not cell.match and not cell.reason]


def test_built_models_have_published_parameter_counts() -> None:
    names = {"GIN": "gin", "GatedGCN": "gatedgcn", "3WLGNN": "3wl-gnn", "GAT": "gat"}
    for name, ours in names.items():
        cell = next(cell for cell in cells() if cell.model == name and cell.dataset == "ZINC" and not cell.variant)
        shapes = published_shapes("ZINC")
        assert shapes is not None
        assert count_parameters(build_model(ours, shapes, dict(cell.settings))) == cell.published


def test_unknown_models_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    without = [name for name in MODELS if name != "gin"]
    monkeypatch.setattr(MODELS, "names", lambda: without)
    missing = [cell for cell in parameter_checks() if cell.model == "GIN"]
    assert missing
    assert {(cell.built, cell.match, cell.reason) for cell in missing} == {(None, False, "model gin is not registered")}


def test_params_published_prints_table_and_json() -> None:
    checks = json.loads(CliRunner().invoke(app, ["params", "--published", "--json"]).stdout)
    keys = {"paper", "table", "dataset", "model", "variant", "layers", "published", "built", "match", "reason"}
    assert len(checks) == len(cells())
    assert all(keys <= set(entry) for entry in checks)
    text = CliRunner().invoke(app, ["params", "--published"]).stdout
    assert f"{560 + 266} of {569 + 266} published parameter counts are equal" in text
    assert "32 released configurations without a count" in text
    assert "printed wrongly" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [(["params"], "name a dataset and a model"), (["params", "zinc", "--published"], "leave their names out")],
)
def test_missing_argument_raises(words: list[str], message: str) -> None:
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2
    assert message in result.stderr


def test_counting_needs_no_data() -> None:
    result = CliRunner().invoke(app, ["params", "zinc", "gcn", "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["params"] == 103077


@pytest.mark.parametrize("line", shape_lines(), ids=lambda line: line["dataset"])
def test_shapes_match_declared_datasets(line: dict[str, str]) -> None:
    for name in set(line["names"].split()) & set(DATASETS.names()):
        kind = DATASETS.get(name)
        assert kind.task.level == line["level"]
        assert kind.encoding_mode == line["encoding"]


@pytest.mark.parametrize("name", ["csl", "enzymes", "proteins_full"])
def test_shapes_match_loaded_data(name: str, request: pytest.FixtureRequest) -> None:
    if name != "csl":
        request.getfixturevalue("mirror")
    for encoding in (None, ENCODINGS.get("laplacian")(k=20)):
        ours = lookup_shapes(name, encoding.width if encoding else 0)
        data = shapes_for(load(name), encoding)
        assert ours is not None
        computed = {key: getattr(ours, key) for key in ("mean_nodes", "degree_histogram", "encodings")}
        assert replace(data, **computed) == ours  # of the data alone
