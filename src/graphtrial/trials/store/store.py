"""Store of trials, epochs and results in one SQLite file."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from graphtrial.core.errors import CorruptFileError, GraphTrialError
from graphtrial.core.files import atomic_path, make_folder
from graphtrial.core.spec import canonical_json
from graphtrial.training.outcome import Epoch, Outcome
from graphtrial.trials.fields import check_id, is_id_prefix
from graphtrial.trials.store.database import kept_open, reading, writing
from graphtrial.trials.store.digests import history_digest, sum_of
from graphtrial.trials.store.record import (
    COLUMNS,
    FINISHED,
    LONGEST_ERROR,
    RESULT,
    SCORES,
    TrialRecord,
    history_of,
    record_of,
    row_of,
)
from graphtrial.trials.store.rows import digest_of, epochs_of, insert_epochs, integrity_errors, named, seal, total_of
from graphtrial.trials.trial import TrialSpec

WEIGHTS = "weights.safetensors"
CHECKPOINT = "checkpoint.safetensors"
LOCK = "lock"


class Store:
    """Trials, epochs and results in one SQLite file; any number of processes may read and write at once.

    With `read_only` no file is created or changed. Untrusted files are safe to open: the schema is validated whenever
    the file is opened, types and digest of every row when it is read.
    """

    def __init__(self, path: Path | str, *, read_only: bool = False) -> None:
        self.path = path = Path(path)
        self.read_only = read_only
        if read_only:
            if not path.exists() and not path.is_symlink():
                raise GraphTrialError(f"there is no store {path}")
            with reading(path):
                return
        make_folder(path.parent)
        with writing(path):
            return

    def kept_open(self) -> AbstractContextManager[None]:
        """Keep the file open inside a block, for many transactions a second; see `database.kept_open`."""
        return kept_open(self.path)

    @property
    def trials_folder(self) -> Path:
        """The folder of checkpoints and weights, next to the file."""
        return self.path.parent / "trials"

    def trial_folder(self, trial: str) -> Path:
        """Return the folder of a trial; a text that is not an id is an error."""
        return self.trials_folder / check_id(trial)

    def weights_file(self, trial: str) -> Path:
        """Return the file of the weights of a finished trial; it may not exist."""
        return self.trial_folder(trial) / WEIGHTS

    def checkpoint_file(self, trial: str) -> Path:
        """Return the file of the newest checkpoint of an unfinished trial."""
        return self.trial_folder(trial) / CHECKPOINT

    def lock_file(self, trial: str) -> Path:
        """Return the lock file of a trial, locked while it runs."""
        return self.trial_folder(trial) / LOCK

    def start(self, spec: TrialSpec, metric: str, higher_is_better: bool, environment: dict[str, Any]) -> None:
        """Record the start of a trial, or its restart, and the metric of its scores."""
        no_result = ", ".join(f"{name} = NULL" for name in (*RESULT, *SCORES, "weights", "error"))
        row = {
            **dict.fromkeys(COLUMNS),
            "id": spec.id,
            "spec": canonical_json(spec.to_dict()),
            "dataset": spec.dataset,
            "model": spec.model.name,
            "metric": metric,
            "higher_is_better": int(higher_is_better),
            "status": "running",
            "starts": 1,
            "started": time.time(),
            "environment": canonical_json(environment),
            "details": "{}",
            "digest": "",
        }
        with self._writing(durable=False) as connection:
            old = digest_of(connection, spec.id)
            connection.execute(
                f"INSERT INTO trials VALUES ({named(row)}) ON CONFLICT (id) DO UPDATE SET status = 'running', "
                f"starts = starts + 1, {no_result}, details = '{{}}', environment = excluded.environment, "
                "metric = excluded.metric, higher_is_better = excluded.higher_is_better",
                row,
            )
            seal(connection, spec.id, old)

    def add_epochs(self, trial: str, epochs: Iterable[Epoch]) -> None:
        """Record epochs; existing ones are replaced."""
        self.add_epochs_of({trial: epochs})

    def add_epochs_of(self, trials: Mapping[str, Iterable[Epoch]]) -> None:
        """Record epochs of several trials in one transaction; finished trials are skipped."""
        if not trials:
            return
        with self._writing(durable=False) as connection:
            for trial, epochs in trials.items():
                status = connection.execute("SELECT status FROM trials WHERE id = ?", (trial,)).fetchone()
                if status is not None and status[0] not in FINISHED:
                    insert_epochs(connection, trial, epochs)

    def finish(self, trial: str, outcome: Outcome, weights: bytes | None = None) -> None:
        """Record the result of a trial with its whole history and digests, in one transaction.

        The file of the weights is written first, so that every recorded result has its weights.
        """
        if weights is not None:
            with atomic_path(self.weights_file(trial)) as temporary:
                temporary.write_bytes(weights)
        with self._writing() as connection:
            old = digest_of(connection, trial)
            if old is None:
                raise GraphTrialError(f"trial {trial} cannot be finished: it has no start in {self.path}")
            connection.execute("DELETE FROM epochs WHERE trial = ?", (trial,))
            insert_epochs(connection, trial, outcome.epochs)
            values = {
                "status": outcome.status,
                "finished": time.time(),
                "params": outcome.params,
                "epochs": len(outcome.epochs),
                "epoch_seconds": outcome.epoch_seconds,
                **{name: outcome.scores.get(name) for name in SCORES},
                "details": canonical_json(outcome.details),
                "error": None,
                "weights": None if weights is None else hashlib.sha256(weights).hexdigest(),
                "history": history_digest(history_of(epochs_of(connection, trial), None)),
            }
            changes = ", ".join(f"{name} = :{name}" for name in values)
            connection.execute(f"UPDATE trials SET {changes} WHERE id = :id", {**values, "id": trial})
            seal(connection, trial, old)

    def mark(self, trial: str, status: str, error: str | None = None) -> None:
        """Record that an unfinished trial failed, was interrupted or is paused."""
        with self._writing(durable=False) as connection:
            row = connection.execute("SELECT status, digest FROM trials WHERE id = ?", (trial,)).fetchone()
            if row is None or row["status"] in FINISHED:
                return
            message = None if error is None else error[-LONGEST_ERROR:]
            connection.execute("UPDATE trials SET status = ?, error = ? WHERE id = ?", (status, message, trial))
            seal(connection, trial, row["digest"])

    def take(self, records: Iterable[tuple[TrialRecord, Iterable[Epoch]]]) -> None:
        """Insert or replace trials of another store with their epochs, in one transaction."""
        with self._writing() as connection:
            for record, epochs in records:
                row = row_of(record)
                old = digest_of(connection, record.id)
                connection.execute(f"INSERT OR REPLACE INTO trials ({', '.join(row)}) VALUES ({named(row)})", row)
                connection.execute("DELETE FROM epochs WHERE trial = ?", (record.id,))
                insert_epochs(connection, record.id, epochs)
                seal(connection, record.id, old)

    def trials(self, ids: Iterable[str] | None = None) -> list[TrialRecord]:
        """Return the trials with these ids, or all, oldest first; a changed or lost trial is an error."""
        if ids is not None:
            return self._select("WHERE id IN (SELECT value FROM json_each(?))", json.dumps(list(ids)))
        with self._reading() as connection:
            rows = connection.execute("SELECT * FROM trials ORDER BY started, id").fetchall()
            total = total_of(connection)
        records = [record_of(row) for row in rows]
        if sum_of(record.digest for record in records) != total:
            raise CorruptFileError(
                f"the store {self.path} is damaged: its trials do not match its digest; "
                "`graphtrial doctor` shows details"
            )
        return records

    def find(self, prefix: str) -> TrialRecord:
        """Return the one trial whose id starts with `prefix`; a text that is not a prefix of an id matches none."""
        # Checked first: SQLite rejects lone surrogates.
        matches = self._select("WHERE substr(id, 1, length(?1)) = ?1", prefix) if is_id_prefix(prefix) else []
        if len(matches) != 1:
            number = f"{len(matches)} trials begin" if matches else "no trial begins"
            raise GraphTrialError(f"{number} with '{prefix}' in {self.path}; `graphtrial status` lists them")
        return matches[0]

    def history(self, trial: str) -> list[Epoch]:
        """Return the epochs of a trial; those of a finished one are verified."""
        with self._reading() as connection:
            row = connection.execute("SELECT * FROM trials WHERE id = ?", (trial,)).fetchone()
            return history_of(epochs_of(connection, trial), row)

    def examine(self) -> Iterator[tuple[str, TrialRecord | None, str]]:
        """Yield each id with the verified trial and an empty message, or with `None` and the error message."""
        with self._reading() as connection:
            ids = [row[0] for row in connection.execute("SELECT id FROM trials ORDER BY started, id")]
            for trial in ids:
                try:
                    row = connection.execute("SELECT * FROM trials WHERE id = ?", (trial,)).fetchone()
                    record = record_of(row)
                    history_of(epochs_of(connection, trial), row)
                except (CorruptFileError, sqlite3.Error) as error:
                    yield str(trial)[:40], None, str(error)
                else:
                    yield record.id, record, ""

    def integrity(self) -> list[str]:
        """Return the errors of SQLite's integrity check and of references between the tables."""
        with self._reading() as connection:
            return integrity_errors(connection)

    def weights(self, record: TrialRecord) -> bytes:
        """Return the verified weights of a finished trial in safetensors format."""
        file = self.weights_file(record.id)
        if record.weights is None or not file.is_file():
            raise GraphTrialError(f"trial {record.id} has no weights in {self.trials_folder}; is it finished?")
        content = file.read_bytes()
        if hashlib.sha256(content).hexdigest() != record.weights:
            raise CorruptFileError(
                f"the weights of trial {record.id} were changed after they were written: {file}; delete the file, and "
                "`graphtrial store merge` copies it from a store that has it"
            )
        return content

    def _select(self, condition: str, value: str) -> list[TrialRecord]:
        with self._reading() as connection:
            rows = connection.execute(f"SELECT * FROM trials {condition} ORDER BY started, id", (value,)).fetchall()
        return [record_of(row) for row in rows]

    def _reading(self) -> AbstractContextManager[sqlite3.Connection]:
        return reading(self.path)

    def _writing(self, *, durable: bool = True) -> AbstractContextManager[sqlite3.Connection]:
        if self.read_only:
            raise GraphTrialError(f"the store {self.path} was opened read-only")
        return writing(self.path, durable=durable)
