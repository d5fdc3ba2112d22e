"""A small store of each release, which every later version reads; what is in it is frozen beside it as JSON.

`python -m tests.frozen.stores` writes those of the installed version, once, when it is released. No file is ever
changed: a version that cannot read one of them needs a migration.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import graphtrial as gt
from graphtrial.results import result_rows
from graphtrial.results.rows import ResultRow
from graphtrial.shipped import shipped_store
from graphtrial.training.outcome import Epoch, Outcome
from graphtrial.trials import Store
from graphtrial.trials.store import TrialRecord

FOLDER = Path(__file__).parent
COPIED = {
    *(("zinc", "mlp"), ("aqsol", "mlp"), ("cluster", "mlp"), ("csl", "3wl-gnn")),
    *(("enzymes+labels", "graphlet-as-published"), ("cora", "svm")),
}
"""Dataset and model of shipped rows that a store begins with: all kinds of trials, and most verdicts."""


def frozen_stores() -> list[Path]:
    return sorted(FOLDER.glob("store-*.sqlite"))


def described(store: Store) -> dict[str, Any]:
    """Return the rows of a store with their scores and verdicts, and its trials with their curves."""
    records = store.trials()
    return {
        "rows": {row.id: _row(row) for row in result_rows(records)},
        "trials": {record.id: _trial(store, record) for record in records},
    }


def _row(row: ResultRow) -> dict[str, Any]:
    test = row.scores("test")
    return {
        "name": row.name,
        "trials": len(row.trials),
        "test": None if test is None else [test.mean, test.std, test.n],
        "verdict": row.verdict.label,
    }


def _trial(store: Store, record: TrialRecord) -> dict[str, Any]:
    epochs = store.history(record.id)
    return {"status": record.status, "scores": record.scores, "epochs": len(epochs), "curve": _digest(epochs)}


def _digest(epochs: list[Epoch]) -> str:
    values = [[e.epoch, e.lr, e.train_loss, e.val_loss, e.val_score, e.seconds] for e in epochs]
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:16]


def _copy(record: TrialRecord, source: Store, target: Store) -> None:
    target.start(record.spec, record.metric, record.higher_is_better, record.environment)
    history = source.history(record.id) if record.spec.kind.has_epochs else []
    target.finish(record.id, Outcome(record.status, record.params or 0, history, record.scores, details=record.details))


def main() -> None:
    target = FOLDER / f"store-{gt.__version__}.sqlite"
    if target.exists():
        raise SystemExit(f"{target.name} is there, and never changed")
    with TemporaryDirectory() as folder:
        store = _filled(Path(folder) / "store.sqlite")
        contents = json.dumps(described(store), indent=1, sort_keys=True)
        shutil.copyfile(store.path, target)
    target.with_suffix(".json").write_text(contents + "\n", encoding="utf-8")


def _filled(path: Path) -> Store:
    store, shipped = Store(path), shipped_store()
    for row in result_rows(shipped.trials()):
        spec = row.first.spec
        if (spec.dataset, spec.model.name) in COPIED:
            for record in row.trials:
                _copy(record, shipped, store)
    settings = {"width": 8, "layers": 2}
    for encoding in ("none", "laplacian:4"):  # by this version, as a user would
        gt.run(
            *("csl", "gcn"),
            encoding=encoding,
            settings=settings,
            rules={"stopping.max_epochs": 3},
            seeds=2,
            splits=2,
            store=path,
            workers=0,
        )
    failed = gt.Study("failed", "csl", (gt.ModelEntry("gin", settings),), seeds=1, splits=1).trials()[0]
    store.start(failed, "accuracy", True, store.trials()[-1].environment)
    store.mark(failed.id, "failed", "RuntimeError: an error message")
    return store


if __name__ == "__main__":
    main()
