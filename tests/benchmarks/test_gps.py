"""Our side of the benchmarks of modern models trains as trials do."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from tests.helpers.samples import EDGE_TYPES, NODE_TYPES, batch_of, random_graphs

from benchmarks.gps import train_as_trials
from graphtrial.core.hardware.threads import current_threads
from graphtrial.core.process import flushes_denormals, retain_freed_memory
from graphtrial.nn import Shapes, build_model


class EndOfContestError(Exception):
    """Ends the endless loop of a contestant."""


@pytest.mark.parametrize("model", ["gin-plus", "gps"])
def test_ours_has_the_process_settings_of_a_trial(model: str) -> None:
    seen: list[Any] = []

    def tick(seconds: float, loss: float, **facts: Any) -> None:
        seen.append((flushes_denormals(), torch.get_num_threads(), current_threads()))
        raise EndOfContestError

    built = build_model(
        model, Shapes(1, "graph", node_types=NODE_TYPES, edge_types=EDGE_TYPES), {"width": 16, "layers": 2}
    )
    ids = np.arange(12)
    data = SimpleNamespace(column=lambda name: SimpleNamespace(values=np.ones(12)))
    before = retain_freed_memory.cache_info().hits + retain_freed_memory.cache_info().misses
    with pytest.raises(EndOfContestError):
        train_as_trials(tick, built, [(batch_of(random_graphs(12, seed=1)), ids)], data)
    after = retain_freed_memory.cache_info().hits + retain_freed_memory.cache_info().misses
    assert seen == [(True, 1, 1)]
    assert after > before
