"""GCN for `graphtrial run` that records when the first optimizer step of its process is done."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, ClassVar

from torch.optim.optimizer import Optimizer, register_optimizer_step_post_hook

from benchmarks.first_step import NOTE
from graphtrial.nn.conv.gcn import GCN


class NotedGCN(GCN):
    """GCN that writes the monotonic time of the first optimizer step to a file."""

    noting: ClassVar[bool] = False

    def __init__(self, width: int) -> None:
        super().__init__(width)
        if not NotedGCN.noting:
            NotedGCN.noting = True
            register_optimizer_step_post_hook(_note)


def _note(optimizer: Optimizer, args: Any, kwargs: Any) -> None:
    note = Path(os.environ[NOTE])
    if not note.exists():
        partial = note.with_suffix(".partial")
        partial.write_text(repr(time.monotonic()))
        partial.rename(note)
