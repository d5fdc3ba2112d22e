"""Checksums of what a store says: of a trial, of its epochs, and of all trials together."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from graphtrial.training.outcome import Epoch

_EPOCH = struct.Struct("<q5d")
_MODULUS = 1 << 256


def trial_digest(row: Mapping[str, Any]) -> str:
    """Return the SHA-256 of all columns of a trial but the digest itself, among them that of its epochs."""
    values = [[name, row[name]] for name in row.keys() if name != "digest"]  # noqa: SIM118 - a row of SQLite has keys
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


def history_digest(epochs: Sequence[Epoch]) -> str:
    """Return the SHA-256 of the numbers of all epochs, bit by bit."""
    packed = (_EPOCH.pack(e.epoch, e.lr, e.train_loss, e.val_loss, e.val_score, e.seconds) for e in epochs)
    return hashlib.sha256(b"".join(packed)).hexdigest()


def sum_of(digests: Iterable[str]) -> str:
    """Return the sum of digests modulo 2^256: it tells whether a trial was lost, in whatever order they were added."""
    return f"{sum(int(one, 16) for one in digests) % _MODULUS:064x}"


def exchanged(total: str, old: str | None, new: str) -> str:
    """Return a sum of digests in which one was put in the place of another, or of none."""
    return f"{(int(total, 16) - int(old or '0', 16) + int(new, 16)) % _MODULUS:064x}"
