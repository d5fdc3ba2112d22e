"""Reproducible fields of a store, and a study long enough to be interrupted."""

from __future__ import annotations

import dataclasses

from graphtrial.trials import Store

LONGER = """
title = "t"
dataset = "csl"
seeds = 1
splits = 2
rules = {stopping.max_epochs = 12}
[[models]]
name = "gin"
width = 8
encoding = "laplacian:4"
"""


def results(store: Store) -> dict[str, object]:
    """Return every result and history but the seconds, and the bytes of the weights of finished trials."""
    bits: dict[str, object] = {}
    for record in store.trials():
        history = [dataclasses.replace(epoch, seconds=0.0) for epoch in store.history(record.id)]
        weights = store.weights_file(record.id).read_bytes() if record.is_finished else None
        bits[record.id] = (record.status, record.scores, record.params, record.epochs, history, weights)
    return bits
