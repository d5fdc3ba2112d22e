"""Predictions of the model of a finished trial."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt
import torch
from torch import Tensor

from graphtrial.core.errors import GraphTrialError
from graphtrial.trials.provenance import check_plugins
from graphtrial.trials.store import Store, TrialRecord
from graphtrial.trials.trial import make_job
from graphtrial.trials.weights import load_weights


def predicted_classes(record: TrialRecord, store: Store) -> npt.NDArray[Any]:
    """Return the predicted class of each node of a single graph, by the evaluated weights of a trial."""
    check_plugins(record.spec)
    weights = load_weights(record, store)
    job = make_job(record.spec)
    if job.split_level != "node":
        raise GraphTrialError(f"trial {record.id} is not about the nodes of a single graph")
    model = job.build()
    model.load_state_dict(weights)
    with torch.no_grad():
        logits: Tensor = model.eval()(job.whole)
        return logits.argmax(dim=1).numpy()
