"""Adam with decoupled weight decay."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from graphtrial.core.arguments import NonNegativeFloat, PositiveFloat
from graphtrial.training.optim.base import OPTIMIZERS, Optimizer
from graphtrial.training.optim.optimizers.adam import Betas

if TYPE_CHECKING:
    import torch
    from torch.nn import Parameter


@OPTIMIZERS.register("adamw", title="AdamW")
@dataclass(frozen=True)
class AdamW(Optimizer):
    """AdamW, Loshchilov and Hutter 2019 (arXiv:1711.05101), with the arguments of `torch.optim.AdamW`.

    Weight decay shrinks the weights by `lr * weight_decay` each step and does not enter the moments.
    """

    name: ClassVar[str] = "adamw"

    lr: PositiveFloat
    betas: Betas = (0.9, 0.999)
    eps: PositiveFloat = 1e-8
    weight_decay: NonNegativeFloat = 1e-2
    amsgrad: bool = False

    def build(self, parameters: Iterable[Parameter]) -> torch.optim.Optimizer:
        from graphtrial.training.optim.fused import FusedAdam

        return FusedAdam(parameters, **self.arguments, decoupled=True)
