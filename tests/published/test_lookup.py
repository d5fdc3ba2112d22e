"""Which published row a trial compares with."""

from __future__ import annotations

from typing import Any

import pytest

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.spec import Component
from graphtrial.nn import MODELS, model_settings, resolve_settings
from graphtrial.nn.registry import setting_choices
from graphtrial.published import (
    PublishedResult,
    find_in_table,
    find_published,
    published_results,
    released_configuration,
)
from graphtrial.published.lookup import parse_table, resolved
from graphtrial.published.papers import NOT_COMPARED, PAPERS
from graphtrial.studies.study import parse_encoding


def laplacian(k: int, sign: str = "random") -> Component:
    return Component("laplacian", {"k": k, "sign": sign})


def find(
    dataset: str,
    model: str,
    *,
    paper: str = "bgnn-v5",
    encoding: Component | None = None,
    params: int | None = None,
    **settings: Any,
) -> PublishedResult | None:
    resolved = {**model_settings(model), **settings} if model in MODELS else settings
    return find_published(paper, dataset, model, resolved, encoding, params)


def printed(row: PublishedResult | None) -> str:
    assert row is not None
    assert row.test is not None
    return row.test.text


def test_published_row_has_printed_numbers() -> None:
    row = find("zinc", "gcn")
    assert row is not None
    assert (row.paper, row.table, row.params, row.metric, row.higher_is_better) == ("bgnn-v5", 3, 103077, "MAE", False)
    assert (row.epochs, row.epoch_seconds, row.total_hours) == (159.5, 1.53, 0.07)
    assert row.test is not None
    assert row.train is not None
    assert (row.test.mean, row.test.std, row.test.n, row.test.text) == (0.416, 0.006, 4, "0.416±0.006")
    assert (row.train.mean, row.train.std) == (0.313, 0.011)


@pytest.mark.parametrize(
    ("dataset", "model", "keywords", "expected"),
    [
        ("zinc", "mlp", {}, "0.706±0.006"),
        ("zinc", "gcn-vanilla", {}, "0.459±0.006"),
        ("zinc", "gin", {"readout": "sum"}, "0.387±0.015"),
        ("zinc", "gatedgcn", {}, "0.435±0.011"),
        ("zinc", "gatedgcn", {"edge_features": True}, "0.375±0.003"),
        ("zinc", "gcn", {"layers": 16}, "0.278±0.003"),
        ("zinc", "gcn", {"layers": 16, "params": 103077}, "0.278±0.003"),
        ("zinc", "gatedgcn", {"layers": 16, "edge_features": True, "encoding": laplacian(8)}, "0.214±0.013"),
        ("zinc", "gatedgcn", {"layers": 16, "encoding": laplacian(8, "fixed")}, "0.319±0.010"),
        ("csl", "gatedgcn", {"encoding": laplacian(20)}, "99.767±0.394"),
        ("csl", "gatedgcn", {"encoding": laplacian(20, "absolute")}, "99.600±1.083"),
        ("csl", "gatedgcn", {"encoding": Component("node-order", {"k": 41, "order": "fixed"})}, "10.533±4.469"),
        ("csl", "mlp", {"encoding": laplacian(20, "absolute")}, "22.567±6.089"),
        ("csl", "3wl-gnn", {"params": 506106}, "97.800±10.916"),
        ("csl", "ringgnn", {"params": 500000, "encoding": laplacian(20, "absolute")}, "25.167±7.399"),
        ("cycles-200", "gin", {"readout": "sum"}, "70.585±0.636"),
        ("graphtheoryprop", "gatedgcn", {"layers": 8, "gru": True, "readout": "set2set"}, "-3.22±0.13"),
        ("zinc", "gcn-vanilla", {"paper": "bgnn-v1", "graph_norm": True}, "0.469±0.002"),
    ],
)
def test_bgnn_trial_matches_its_published_row(
    dataset: str, model: str, keywords: dict[str, Any], expected: str
) -> None:
    assert printed(find(dataset, model, **keywords)) == expected


@pytest.mark.parametrize("model", ["gcn", "gin", "gatedgcn", "graphsage", "gat", "monet"])
def test_csl_without_encoding_is_one_row_for_all_message_passing_models(model: str) -> None:
    readout = {"readout": "sum"} if model == "gin" else {}
    row = find("csl", model, params=104007, **readout)
    assert row is not None
    assert (row.label, row.table, row.test.mean if row.test else None) == ("All MP-GCNs", 10, 10.0)
    assert row.params == 100_000
    assert row.params_exact is None  # a round number for all of them says nothing of one


@pytest.mark.parametrize(
    ("dataset", "model", "keywords"),
    [
        ("csl", "mlp", {}),
        ("csl", "gatedgcn", {"encoding": laplacian(10)}),
        ("csl", "gatedgcn", {"encoding": Component("random-walk", {"k": 20})}),
        ("csl", "gatedgcn", {"encoding": laplacian(20), "layers": 8}),
        ("csl", "gatedgcn", {"encoding": laplacian(20), "edge_features": True}),
        ("zinc", "gcn", {"layers": 5}),
        ("zinc", "gcn", {"encoding": laplacian(8)}),
        ("zinc", "gcn", {"residual": False}),
        ("zinc", "gatedgcn", {"layers": 16, "encoding": laplacian(8)}),
        ("cycles-9000", "gin", {"readout": "sum"}),
        ("proteins", "gin", {}),  # the benchmark's has more features: `proteins_full`
        ("no-such-dataset", "gcn", {}),
        ("zinc", "no-such-model", {}),
        ("zinc", "gcn", {"paper": "of-my-own"}),
    ],
)
def test_no_match_where_depth_encoding_settings_or_data_differ(
    dataset: str, model: str, keywords: dict[str, Any]
) -> None:
    assert find(dataset, model, **keywords) is None


def test_main_tables_are_preferred_to_ablations() -> None:
    row = find("pattern", "gatedgcn", layers=16)
    assert row is not None
    assert row.table == 8
    (of_study,) = find_in_table("bgnn-v5", 13, "pattern", "gatedgcn", {"layers": 16}, None)
    assert of_study.table == 13


def test_row_with_the_nearest_parameter_count_is_selected() -> None:
    sizes = {params: find("csl", "3wl-gnn", params=params) for params in (100_000, 500_000)}
    assert {params: row.params for params, row in sizes.items() if row} == {100_000: 102510, 500_000: 506106}


def test_rows_of_several_targets_and_repetitions_are_one_experiment() -> None:
    settings = {"layers": 8, "gru": True, "readout": "set2set"}
    targets = find_in_table("bgnn-v5", 12, "graphtheoryprop", "gatedgcn", settings, None)
    assert len(targets) == 7
    assert sum(row.target is None for row in targets) == 1
    repetitions = find_in_table("bgnn-v5", 16, "enzymes", "gin", {"layers": 4}, None)
    assert [row.repetition for row in repetitions] == [1, 2]


def test_diverged_row_has_no_score() -> None:
    row = find("zinc", "ringgnn", layers=8, edge_features=True, residual=True)
    assert row is not None
    assert (row.status, row.test) == ("diverged", None)


@pytest.mark.parametrize("text", ["bgnn-v5/table-99", "bgnn-v9/table-3", "table-3", "bgnn-v5", ""])
def test_unknown_table_raises_with_an_example(text: str) -> None:
    with pytest.raises(GraphTrialError, match="bgnn-v5/table-3"):
        parse_table(text)


@pytest.mark.parametrize(
    ("dataset", "model", "settings", "expected"),
    [
        ("enzymes", "wl", {}, "50.8±1.4"),
        ("enzymes+labels", "wl-oa", {}, "56.4±1.1"),
        ("enzymes+degree", "graphlet", {}, "29.5±0.7"),  # which sees labels whatever the features are
        ("nci1", "shortest-path-as-published", {"first_label": 1}, "74.2±0.3"),
        ("enzymes+labels", "gin-eps", {"layers": 3}, "38.7±1.5"),
        ("imdb-binary", "gin-eps", {"jumping": True}, "73.0±1.1"),
        ("reddit_threads", "gin-eps", {"jumping": True}, "77.3±0.04"),
        ("yeast", "gine", {"jumping": True}, "88.2±0.02"),
        ("alchemy", "gine-molecules", {"layers": 6, "jumping": False}, "0.103±0.001"),
        ("zinc-full", "gine-molecules", {"layers": 4, "jumping": True}, "0.084±0.004"),
        ("qm9-complete", "mpnn", {}, "0.034±0.001"),
    ],
)
def test_tudataset_trial_matches_its_published_row(
    dataset: str, model: str, settings: dict[str, Any], expected: str
) -> None:
    assert printed(find(dataset, model, paper="tudataset", **settings)) == expected


@pytest.mark.parametrize(
    ("dataset", "model"),
    [
        ("enzymes", "gin-eps"),  # which has attributes here and had labels there
        ("enzymes+all", "gin-eps"),
        ("csl", "wl"),
        ("enzymes", "random-walk"),
        ("somebody/elses", "gin-eps"),
        ("alchemy", "gine"),  # another network than that of table 3
    ],
)
def test_trial_outside_tudataset_has_no_row(dataset: str, model: str) -> None:
    assert find(dataset, model, paper="tudataset") is None


@pytest.mark.parametrize(
    ("dataset", "model", "expected"),
    [
        ("wikics-stopping", "svm", "72.63"),
        ("wikics-stopping", "mlp-direct", "73.17±0.19"),
        ("wikics", "gcn-direct", "79.07±0.10"),
        ("wikics-stopping", "gat-direct", "79.63±0.10"),
        ("wikics-stopping", "appnp", "79.84±0.10"),
        ("wikics+links", "vgae", "0.9553±0.0008"),
        ("wikics+links", "graphstar", "0.9793±0.0002"),
        ("wikics+links-10000", "mlp-direct", "0.9192±0.0004"),
    ],
)
def test_wikics_trial_matches_its_published_row(dataset: str, model: str, expected: str) -> None:
    assert printed(find(dataset, model, paper="wikics")) == expected


def test_average_precision_has_a_row_of_the_same_experiment() -> None:
    auc, precision = find_in_table("wikics", 3, "wikics+links", "vgae", {}, None)
    assert (auc.metric, precision.metric) == ("ROC-AUC", "AP")
    assert precision.test is not None
    assert precision.test.mean == 0.9608


@pytest.mark.parametrize(
    ("dataset", "model"),
    [
        ("cora", "gcn-direct"),
        ("wikics-standin-stopping", "svm"),
        ("wikics+links-hard", "vgae"),
        ("wikics", "gin"),
        ("wikics", "gcn"),  # that of the benchmark, with batch norms and residual connections
    ],
)
def test_other_data_and_models_have_no_row_of_wikics(dataset: str, model: str) -> None:
    assert find(dataset, model, paper="wikics") is None


def test_a_modern_trial_is_compared_with_the_papers_own_number() -> None:
    settings = resolve("exphormer", "cifar10")
    row = find_published("exphormer/cifar10", "cifar10", "exphormer", settings, eigenpairs(8), 111095)
    assert row is not None
    assert (row.paper, row.table, row.origin, row.label) == ("exphormer", "Table 1", "own", "Exphormer")
    assert row.test is not None
    assert row.test.text == "74.69±0.125"
    assert row.where == "exphormer, Table 1"
    edition = find_published("exphormer/cifar10-as-published", "cifar10", "exphormer", settings, eigenpairs(8), 111095)
    assert edition is row


def test_a_quotation_is_found_where_the_paper_itself_gives_no_number() -> None:
    row = find_published("gps/zinc", "zinc", "gps", resolve("gps", "zinc"), Component("random-walk", {"k": 20}), 423717)
    assert row is not None
    assert (row.origin, row.protocol, row.params_exact) == ("quoted", "gps/zinc", 423717)
    assert row.test is not None
    assert row.test.text == "0.070±0.004"
    assert row.where.endswith("(quoted)")


@pytest.mark.parametrize(
    ("protocol", "encoding", "changes"),
    [
        ("modern/cosine", 8, {}),  # of another paper
        ("exphormer/cifar10-ablation", 8, {}),  # other rules
        ("exphormer/mnist", 8, {}),
        ("exphormer/cifar10", 10, {}),  # another encoding
        ("exphormer/cifar10", 8, {"virtual_nodes": 2}),  # another architecture
        ("exphormer/cifar10", 8, {"layers": 4}),
    ],
)
def test_other_rules_encodings_and_architectures_are_not_compared(
    protocol: str, encoding: int, changes: dict[str, Any]
) -> None:
    settings = {**resolve("exphormer", "cifar10"), **changes}
    assert find_published(protocol, "cifar10", "exphormer", settings, eigenpairs(encoding), 111095) is None


def resolve(model: str, dataset: str) -> dict[str, Any]:
    """Return the released settings of a model."""
    released = released_configuration(dataset, model)
    assert released is not None
    return resolve_settings(model, dict(released.settings))


def eigenpairs(k: int) -> Component:
    return Component("laplacian-pairs", {"k": k, "sign": "fixed"})


def another_value(model: str, name: str, value: Any) -> Any:
    """Another value of a setting, of its type."""
    choices = setting_choices(model).get(name, ())
    if choices:
        return next(choice for choice in choices if choice != value)
    return not value if isinstance(value, bool) else f"{value} max" if isinstance(value, str) else value + 1


def rows_of_modern_papers() -> list[PublishedResult]:
    rows = [row for row in published_results() if PAPERS[row.paper].compared_settings is None]
    return list(
        {(row.protocol, row.encoding, str(row.models)): row for row in rows if not row.reason and row.datasets}.values()
    )


@pytest.mark.parametrize("row", rows_of_modern_papers(), ids=lambda row: f"{row.protocol} {row.label} {row.table}")
def test_every_setting_but_sizes_and_those_of_an_edition_is_compared(row: PublishedResult) -> None:
    (published,) = row.models
    name, settings, edition = (
        published.name,
        resolved(published),
        getattr(MODELS.get(published.name), "as_published", {}),
    )

    def find_with(changes: dict[str, Any]) -> PublishedResult | None:
        encoding = parse_encoding(row.encoding, name)
        protocol = row.protocol or f"{row.paper}/any"
        return find_published(protocol, row.datasets[0], name, {**settings, **changes}, encoding, row.params_exact)

    assert find_with({}) is not None
    assert find_with({"width": -1}) is find_with({})
    for key, value in settings.items():
        if key in NOT_COMPARED:
            continue
        if key in edition and key not in published.settings:
            assert find_with({key: edition[key]}) is find_with({})
        other = another_value(name, key, value)
        actual = find_with({key: other})
        if actual is not None:  # another row, of a model with that value
            allowed = {resolved(model)[key] for model in actual.models} | {edition.get(key)}
            assert other in allowed, key


def test_a_convolution_of_neither_edition_is_not_compared() -> None:
    settings = resolve("gcn-plus", "pattern")
    walks = Component("random-walk", {"k": 32})

    def find_with(convolution: str) -> PublishedResult | None:
        changed = {**settings, "convolution": convolution}
        return find_published("gnnplus/pattern", "pattern", "gcn-plus", changed, walks, 517219)

    assert find_with("gcn-edges") is find_with("edge-sum") is not None
    assert find_with("gcn") is None


@pytest.mark.parametrize("dataset", ["zinc", "pattern", "cluster"])
def test_both_editions_of_an_encoding_are_those_of_the_published_row(dataset: str) -> None:
    settings = resolve("san", dataset)
    texts = ("laplacian-pairs:10", "laplacian-pairs:10,sign=fixed,scale=rows", "laplacian-pairs:10,sign=fixed")
    sound, faulty, neither = (
        find_published(f"san/{dataset}-as-published", dataset, "san", settings, parse_encoding(text)) for text in texts
    )
    assert sound is faulty is not None
    assert neither is None
