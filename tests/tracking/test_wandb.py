"""Weights & Biases in offline mode: the files that `wandb sync` uploads hold what the store holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.cli import CliRunner

from graphtrial.cli.main import app
from graphtrial.trials import Store

pytest.importorskip("wandb", reason="wandb takes 100 MB and is not among the packages for development")
VARIABLES = ("WANDB_MODE", "WANDB_API_KEY", "WANDB_BASE_URL", "WANDB_PROJECT")


def scan(file: Path) -> list[Any]:
    """Read the records of a run with the reader of the library."""
    from wandb.proto.wandb_internal_pb2 import Record
    from wandb.sdk.internal.datastore import DataStore

    data, records = DataStore(), []
    data.open_for_scan(str(file))
    while (content := data.scan_data()) is not None:
        record = Record()
        record.ParseFromString(content)
        records.append(record)
    return records


def values(items: Any) -> dict[str, Any]:
    return {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in items}


@pytest.mark.slow
def test_wandb_has_the_numbers_of_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    path = tmp_path / "r" / "store.sqlite"
    words = ["run", "csl", "gcn", "--width", "8", "--layers", "2", "--seeds", "1", "--splits", "1", "--max-epochs", "2"]
    built = CliRunner().invoke(app, [*words, "--workers", "0", "--track", "wandb", "--store", str(path), "--json"])
    assert built.exit_code == 0, built.output
    assert json.loads(built.stdout)["test"]["n"] == 1  # wandb prints nothing there
    (record,) = Store(path).trials()
    (file,) = (tmp_path / "r" / "wandb").glob(f"offline-run-*/run-{record.id}.wandb")
    records = scan(file)
    (run,) = [one.run for one in records if one.WhichOneof("record_type") == "run"]
    assert (run.run_id, run.project) == (record.id, "graphtrial")
    assert values(run.config.update)["model.width"] == "8"
    history = [values(one.history.item) for one in records if one.WhichOneof("record_type") == "history"]
    losses = [(row["_step"], row["val loss"]) for row in history if "val loss" in row]
    assert losses == [(epoch.epoch, pytest.approx(epoch.val_loss)) for epoch in Store(path).history(record.id)]
    summary: dict[str, Any] = {}
    for one in records:
        if one.WhichOneof("record_type") == "summary":
            summary |= values(one.summary.update)
    assert summary["final test accuracy"] == pytest.approx(record.scores["test"])
    assert summary["status"] == record.status
    (end,) = [one.exit for one in records if one.WhichOneof("record_type") == "exit"]
    assert end.exit_code == 0
