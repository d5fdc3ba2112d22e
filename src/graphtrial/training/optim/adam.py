"""Adam without the compiler that torch's own optimisers import."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter
from torch.optim import Optimizer

BETAS = 0.9, 0.999
EPSILON = 1e-8


class Adam(Optimizer):
    """`torch.optim.Adam(..., fused=True)`, bit for bit, by the same kernel.

    The methods of torch's optimisers are wrapped for `torch.compile`, and the first call of any of them imports it: a
    second and 70 MB for every process, more than many a trial needs. So each of them is written here once more.
    """

    def __init__(self, parameters: Iterable[Parameter], lr: float, weight_decay: float = 0.0) -> None:
        super().__init__(parameters, {"lr": lr, "weight_decay": weight_decay})

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters; the constructor's are the first group."""
        self.param_groups.append({**self.defaults, **param_group, "params": list(param_group["params"])})

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget all gradients."""
        for parameter in self._parameters():
            if set_to_none or parameter.grad is None:
                parameter.grad = None
            else:
                parameter.grad = torch.zeros_like(parameter)

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Move every parameter that has a gradient."""
        for group in self.param_groups:
            moved = [parameter for parameter in group["params"] if parameter.grad is not None]
            if not moved:
                continue
            states = [self.state[parameter] or self._started(parameter) for parameter in moved]
            steps = [state["step"] for state in states]
            torch._foreach_add_(steps, 1)
            torch._fused_adam_(
                moved,
                [parameter.grad for parameter in moved],
                [state["exp_avg"] for state in states],
                [state["exp_avg_sq"] for state in states],
                [],
                steps,
                lr=group["lr"],
                beta1=BETAS[0],
                beta2=BETAS[1],
                weight_decay=group["weight_decay"],
                eps=EPSILON,
                amsgrad=False,
                maximize=False,
            )

    def state_dict(self) -> dict[str, Any]:
        """Return the averages and the rates, with numbers in place of the parameters."""
        number: dict[Tensor, int] = {parameter: at for at, parameter in enumerate(self._parameters())}
        return {
            "state": {number[parameter]: dict(state) for parameter, state in self.state.items()},
            "param_groups": [
                {**group, "params": [number[parameter] for parameter in group["params"]]} for group in self.param_groups
            ],
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take up what `state_dict` returned."""
        parameters = self._parameters()
        for group, kept in zip(self.param_groups, state_dict["param_groups"], strict=True):
            group.update({key: value for key, value in kept.items() if key != "params"})
        self.state.clear()
        for at, state in state_dict["state"].items():
            self.state[parameters[at]] = {name: value.clone() for name, value in state.items()}

    def _parameters(self) -> list[Parameter]:
        return [parameter for group in self.param_groups for parameter in group["params"]]

    def _started(self, parameter: Tensor) -> dict[str, Tensor]:
        state = self.state[parameter]
        state["step"] = torch.zeros((), dtype=torch.float32, device=parameter.device)
        for name in ("exp_avg", "exp_avg_sq"):
            state[name] = torch.zeros_like(parameter, memory_format=torch.preserve_format)
        return state
