"""One recipe for models of every kind, under which none of the papers compared them."""

from __future__ import annotations

from graphtrial.training.protocols.base import declare
from graphtrial.training.protocols.graphgps import adamw_on_cosine

declare(
    "modern/cosine",
    adamw_on_cosine(32, 200, 10, clip_grad_norm=None),
    "Our own: AdamW with cosine annealing and warm-up, as GPS and its successors train, the same for every model.",
    "The weights of the epoch with the best validation score are evaluated.",
    paper="GraphTrial",
    seeds=tuple(range(4)),
)
