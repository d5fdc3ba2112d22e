"""The protocols of Wiki-CS: early stopping, best weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from graphtrial.datasets import DATASETS
from graphtrial.studies import catalog, load_study
from graphtrial.training import PROTOCOLS
from graphtrial.training.batches import Job
from graphtrial.training.trainer import train


def test_early_stopping_after_patience_epochs(make_job: Callable[..., Job]) -> None:
    rules = PROTOCOLS.get("wikics/nodes").rules_for(
        "gcn-direct", None, {"stopping.early_stopping": 5, "batch_size": 40}
    )
    outcome = train(replace(make_job(settings={"dropout": 0.0}), rules=rules))
    losses = [epoch.val_loss for epoch in outcome.epochs]
    best = losses.index(min(losses))
    assert (outcome.status, outcome.details["stop_reason"]) == ("done", "early_stopping")
    assert len(losses) == best + 1 + 5  # the best epoch and five that were not better
    assert {epoch.lr for epoch in outcome.epochs} == {0.02}


def test_patience_and_learning_rates_match_the_paper() -> None:
    nodes = PROTOCOLS.get("wikics/nodes")
    flat = nodes.rules.flat()
    assert flat["stopping.early_stopping"] == 100
    names = ("mlp-direct", "gcn-direct", "gat-direct", "appnp")
    rates = {name: nodes.rules_for(name).flat()["optimizer.lr"] for name in names}
    assert rates == {"mlp-direct": 0.003, "gcn-direct": 0.02, "gat-direct": 0.007, "appnp": 0.02}
    assert (len(nodes.seeds), nodes.splits, flat["optimizer.weight_decay"], flat["evaluate"]) == (5, 20, 5e-4, "best")
    assert {name: len(PROTOCOLS.get(f"wikics/{name}").seeds) for name in ("links", "links-mlp", "links-graphstar")} == {
        "links": 50,
        "links-mlp": 20,
        "links-graphstar": 10,
    }


@pytest.mark.parametrize("name", [name for name in catalog() if name.startswith("wikics/")])
def test_tables_name_registered_components(name: str) -> None:
    study = load_study(name)
    for dataset in (*study.datasets, *study.also):
        assert DATASETS.get(dataset).name == dataset
    for row in study.rows:
        protocol = PROTOCOLS.get(row.protocol or study.protocol or "")
        assert protocol.interval == "bootstrap"


@pytest.mark.slow
def test_table_accepts_another_graph() -> None:
    table = load_study("wikics/table-2").only(["wikics-standin-stopping"], ["gcn-direct", "svm"], 1)
    assert table.datasets == ("wikics-standin-stopping",)
    assert len(table.trials()) == 40
    whole = load_study("wikics/table-2").only(["wikics-standin-stopping"], ["gat-direct"])
    assert len(whole.trials()) == 100
    assert load_study("wikics/table-3").only(["cora"]).datasets == ("cora+links",)
    assert load_study("wikics/table-4").only(["WIKICS"]).datasets == ("wikics+links-10000",)
