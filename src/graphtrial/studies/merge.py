"""What several machines found, in one store."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from graphtrial.errors import GraphTrialError
from graphtrial.files import atomic_path
from graphtrial.studies.store import FINISHED, Store

RESULT = ("status", "params", "epochs", "train", "val", "test")
"""What two runs of one trial should agree in."""


@dataclass(frozen=True)
class Merged:
    """Ids of the trials that were copied, that both stores had with one result, and that they have different ones of.

    `left` counts the unfinished ones, which are not copied.
    """

    copied: tuple[str, ...]
    same: tuple[str, ...]
    different: tuple[str, ...]
    left: int


def merge(store: Store, other: Path) -> Merged:
    """Copy the finished trials of another store, with their epochs and weights, unless they are finished here too.

    Where both have a result, the one here stays. All trials are copied in one step, or none.
    """
    if not other.is_file():
        raise GraphTrialError(f"there is no store {other}")
    if other.resolve() == store.path.resolve():
        raise GraphTrialError(f"{other} cannot be merged into itself")
    source = Store(other)  # it may be of an earlier schema
    ended = ", ".join(f"'{status}'" for status in FINISHED)
    with store.connection() as connection:
        connection.execute("ATTACH DATABASE ? AS other", (str(other),))
        connection.execute("BEGIN IMMEDIATE")
        there = {row["id"]: row for row in connection.execute(f"SELECT * FROM other.trials WHERE status IN ({ended})")}
        here = {row["id"]: row for row in connection.execute(f"SELECT * FROM main.trials WHERE status IN ({ended})")}
        (total,) = connection.execute("SELECT count(*) FROM other.trials").fetchone()
        copied = [trial for trial in there if trial not in here]
        chosen, ids = "IN (SELECT value FROM json_each(?))", (json.dumps(copied),)
        connection.execute(f"INSERT OR REPLACE INTO main.trials SELECT * FROM other.trials WHERE id {chosen}", ids)
        connection.execute(f"DELETE FROM main.epochs WHERE trial {chosen}", ids)
        connection.execute(f"INSERT INTO main.epochs SELECT * FROM other.epochs WHERE trial {chosen}", ids)
    for trial in copied:
        _copy_weights(source, store, trial)
    agrees = {
        trial: all(here[trial][name] == there[trial][name] for name in RESULT) for trial in there if trial in here
    }
    same, different = ([trial for trial in agrees if agrees[trial] is wanted] for wanted in (True, False))
    return Merged(tuple(copied), tuple(same), tuple(different), total - len(there))


def _copy_weights(source: Store, target: Store, trial: str) -> None:
    weights = source.weights_file(trial)
    if weights.is_file():
        with atomic_path(target.weights_file(trial)) as temporary:
            shutil.copyfile(weights, temporary)
