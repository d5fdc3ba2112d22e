"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from graphtrial.core.arguments import NonNegativeFloat, PositiveFloat
from graphtrial.core.errors import GraphTrialError
from graphtrial.training.optim.base import OPTIMIZERS, Optimizer

if TYPE_CHECKING:
    import torch
    from torch.nn import Parameter


@OPTIMIZERS.register("sgd", title="SGD")
@dataclass(frozen=True)
class SGD(Optimizer):
    """Stochastic gradient descent with momentum, with the arguments of `torch.optim.SGD`."""

    name: ClassVar[str] = "sgd"

    lr: PositiveFloat
    momentum: NonNegativeFloat = 0.0
    dampening: NonNegativeFloat = 0.0
    weight_decay: NonNegativeFloat = 0.0
    nesterov: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.nesterov and (self.momentum == 0 or self.dampening != 0):
            raise GraphTrialError("nesterov of 'sgd' needs a momentum above 0 and no dampening")

    def build(self, parameters: Iterable[Parameter]) -> torch.optim.Optimizer:
        from graphtrial.training.optim.fused import FusedSGD

        return FusedSGD(parameters, **self.arguments)
