"""Serialization of the weights of trials in safetensors format."""

from __future__ import annotations

from collections.abc import Mapping

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from graphtrial.core.errors import CorruptFileError
from graphtrial.trials.store import Store, TrialRecord


def serialize_weights(weights: Mapping[str, Tensor]) -> bytes | None:
    """Return weights as bytes; `None` where a trial has none."""
    return save({name: value.contiguous() for name, value in weights.items()}) if weights else None


def load_weights(record: TrialRecord, store: Store) -> dict[str, Tensor]:
    """Return the weights of a finished trial, verified against the digest in its record."""
    try:
        return load(store.weights(record))
    except SafetensorError as error:
        raise CorruptFileError(f"the weights of trial {record.id} cannot be read: {error}") from error
