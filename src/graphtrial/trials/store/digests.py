"""Digests of a trial, of its epochs, and of all trials of a store."""

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
    """Return the SHA-256 of all columns of a trial but the digest itself; the digest of its epochs is one of them."""
    values = [[name, row[name]] for name in row.keys() if name != "digest"]  # noqa: SIM118 - a row of SQLite has keys
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


def history_digest(epochs: Sequence[Epoch]) -> str:
    """Return the SHA-256 of the values of all epochs, as little-endian doubles."""
    packed = (_EPOCH.pack(e.epoch, e.lr, e.train_loss, e.val_loss, e.val_score, e.seconds) for e in epochs)
    return hashlib.sha256(b"".join(packed)).hexdigest()


def sum_of(digests: Iterable[str]) -> str:
    """Return the sum of digests modulo 2^256, an order-independent digest of all trials, to detect lost ones."""
    return f"{sum(int(one, 16) for one in digests) % _MODULUS:064x}"


def replace_in_sum(total: str, old: str | None, new: str) -> str:
    """Return a sum of digests with `old`, if any, replaced by `new`."""
    return f"{(int(total, 16) - int(old or '0', 16) + int(new, 16)) % _MODULUS:064x}"
