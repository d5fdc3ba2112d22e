"""Adam."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from graphtrial.core.arguments import DropoutRate, Length, NonNegativeFloat, PositiveFloat
from graphtrial.training.optim.base import OPTIMIZERS, Optimizer

if TYPE_CHECKING:
    import torch
    from torch.nn import Parameter

Betas = Annotated[tuple[DropoutRate, ...], Length(2, 2)]


@OPTIMIZERS.register("adam", title="Adam")
@dataclass(frozen=True)
class Adam(Optimizer):
    """Adam, Kingma and Ba 2015 (arXiv:1412.6980), with the arguments of `torch.optim.Adam`.

    Weight decay is an L2 penalty: it is added to the gradient.
    """

    name: ClassVar[str] = "adam"

    lr: PositiveFloat
    betas: Betas = (0.9, 0.999)
    eps: PositiveFloat = 1e-8
    weight_decay: NonNegativeFloat = 0.0
    amsgrad: bool = False

    def build(self, parameters: Iterable[Parameter]) -> torch.optim.Optimizer:
        from graphtrial.training.optim.fused import FusedAdam

        return FusedAdam(parameters, **self.arguments)
