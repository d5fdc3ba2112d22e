"""Optimizers by torch's fused kernels, without the compiler that torch's own classes import.

The methods of torch's optimizers are wrapped for `torch.compile`, and the first call of any of them imports
`torch._dynamo`: a second and 70 MB for every process, more than many a trial needs. So each is written here once more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter
from torch.optim import Optimizer

from graphtrial.training.optim.flat import FlatParameters, can_flatten


class FusedOptimizer(Optimizer):
    """Parameter groups, gradients and state of an optimizer; subclasses define `step`."""

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters; the constructor's are the first group."""
        self.param_groups.append({**self.defaults, **param_group, "params": list(param_group["params"])})

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset all gradients."""
        for parameter in self._parameters():
            if set_to_none or parameter.grad is None:
                parameter.grad = None
            else:
                parameter.grad = torch.zeros_like(parameter)

    def state_dict(self) -> dict[str, Any]:
        """Return the state tensors and the groups, with numbers in place of the parameters."""
        number: dict[Tensor, int] = {parameter: at for at, parameter in enumerate(self._parameters())}
        return {
            "state": {number[parameter]: dict(state) for parameter, state in self.state.items()},
            "param_groups": [
                {**group, "params": [number[parameter] for parameter in group["params"]]} for group in self.param_groups
            ],
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        parameters = self._parameters()
        for group, saved in zip(self.param_groups, state_dict["param_groups"], strict=True):
            group.update({key: value for key, value in saved.items() if key != "params"})
        self.state.clear()
        for at, state in state_dict["state"].items():
            self.state[parameters[at]] = {
                name: value.to(parameters[at].device, copy=True) for name, value in state.items()
            }

    def gradient_buffers(self, parameters: Sequence[Tensor]) -> list[Tensor]:
        """Return a buffer for the gradient of each parameter."""
        return [torch.zeros_like(parameter) for parameter in parameters]

    def _parameters(self) -> list[Parameter]:
        return [parameter for group in self.param_groups for parameter in group["params"]]


class FusedAdam(FusedOptimizer):
    """`torch.optim.Adam(..., fused=True)`, or `AdamW` where weight decay is `decoupled`.

    On the CPU, parameters are moved into one buffer when they get their first gradient (see `FlatParameters`), and a
    step is one call. Whole vectors are rounded as in torch, the last elements of a tensor perhaps differently.
    """

    def __init__(
        self,
        parameters: Iterable[Parameter],
        lr: float,
        betas: tuple[float, ...] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        decoupled: bool = False,
    ) -> None:
        self.kernel = torch._fused_adamw_ if decoupled else torch._fused_adam_
        self._flat: list[FlatParameters] = []
        options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad}
        super().__init__(parameters, options)

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Update every parameter that has a gradient."""
        if len(self.param_groups) == 1:
            self._step_flat()
            return
        for group in self.param_groups:
            self._step_group(group, [parameter for parameter in group["params"] if parameter.grad is not None])

    def gradient_buffers(self, parameters: Sequence[Tensor]) -> list[Tensor]:
        """Return a buffer for the gradient of each parameter, from which the next step reads it without a copy."""
        if not can_flatten(parameters) or len(self.param_groups) > 1:
            return super().gradient_buffers(parameters)
        self._flat = [flat for flat in self._flat if flat.is_current()]
        if not any(set(map(id, flat.parameters)) == set(map(id, parameters)) for flat in self._flat):
            self._flat = []
            self._flatten(parameters)
        return [flat.gradients[flat.index[id(p)]] for p in parameters for flat in self._flat if id(p) in flat.index]

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        super().load_state_dict(state_dict)
        for flat in self._flat:
            self._adopt_state(flat)

    def _step_flat(self) -> None:
        group = self.param_groups[0]
        self._flat = [flat for flat in self._flat if flat.is_current()]
        flattened = {id(parameter) for flat in self._flat for parameter in flat.parameters}
        fresh = [p for p in group["params"] if p.grad is not None and id(p) not in flattened]
        if fresh and can_flatten(fresh):
            self._flatten(fresh)
        else:
            self._step_group(group, fresh)
        for flat in self._flat:
            flat.collect_gradients()
            if flat.uniform and all(parameter.grad is not None for parameter in flat.parameters):
                flat.steps += 1
                moments = ([flat.states[name]] for name in self._moments(group))
                self._update(group, [flat.data], [flat.gradient], moments, [flat.steps[0]])
                continue
            chosen = [at for at, parameter in enumerate(flat.parameters) if parameter.grad is not None]
            if chosen:
                flat.uniform = False
                parts = [flat.views(buffer) for buffer in (flat.data, flat.gradient, *flat.states.values())]
                data, gradients, *moments_of = ([views[at] for at in chosen] for views in parts)
                steps = [flat.steps[at] for at in chosen]
                torch._foreach_add_(steps, 1)
                self._update(group, data, gradients, moments_of, steps)

    def _step_group(self, group: dict[str, Any], updated: list[Parameter]) -> None:
        if not updated:
            return
        states = [self.state[parameter] or self._init_state(parameter, group) for parameter in updated]
        steps = [state["step"] for state in states]
        torch._foreach_add_(steps, 1)
        gradients = [parameter.grad for parameter in updated if parameter.grad is not None]
        moments = ([state[name] for state in states] for name in self._moments(group))
        self._update(group, [*updated], gradients, moments, steps)

    def _update(
        self,
        group: dict[str, Any],
        parameters: list[Tensor],
        gradients: list[Tensor],
        moments: Iterable[list[Tensor]],
        steps: list[Tensor],
    ) -> None:
        first, second, *highest = moments
        self.kernel(
            parameters,
            gradients,
            first,
            second,
            highest[0] if highest else [],
            steps,
            lr=group["lr"],
            beta1=group["betas"][0],
            beta2=group["betas"][1],
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            amsgrad=group["amsgrad"],
            maximize=False,
        )

    def _flatten(self, parameters: Sequence[Tensor]) -> None:
        """Move parameters into a buffer, with their state."""
        self._flat.append(FlatParameters(parameters, self._moments(self.param_groups[0])))
        self._adopt_state(self._flat[-1])

    def _adopt_state(self, flat: FlatParameters) -> None:
        """Move the state of parameters into their buffer."""
        for at, parameter in enumerate(flat.parameters):
            views = flat.state(at)
            for name, value in self.state[parameter].items():
                views[name].copy_(value)
            if not self.state[parameter]:
                for view in views.values():
                    view.zero_()
            self.state[parameter] = views
        flat.uniform = bool((flat.steps == flat.steps[0]).all())

    def _init_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        state: dict[str, Tensor] = self.state[parameter]
        state["step"] = torch.zeros((), dtype=torch.float32, device=parameter.device)
        for name in self._moments(group):
            state[name] = torch.zeros_like(parameter, memory_format=torch.preserve_format)
        return state

    @staticmethod
    def _moments(group: dict[str, Any]) -> list[str]:
        return ["exp_avg", "exp_avg_sq", *(["max_exp_avg_sq"] if group["amsgrad"] else [])]


class FusedSGD(FusedOptimizer):
    """`torch.optim.SGD(..., fused=True)`, bit for bit; a parameter may get its first gradient at a later step."""

    def __init__(
        self,
        parameters: Iterable[Parameter],
        lr: float,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        options = {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay}
        super().__init__(parameters, {**options, "nesterov": nesterov})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Update every parameter that has a gradient."""
        for group in self.param_groups:
            updated = [parameter for parameter in group["params"] if parameter.grad is not None]
            first = [parameter for parameter in updated if not self.state[parameter]]
            if group["momentum"] == 0:
                self._update(group, updated, [], is_first_step=False)
                continue
            later = [parameter for parameter in updated if self.state[parameter]]
            for parameter in first:
                self.state[parameter]["momentum_buffer"] = torch.empty_like(parameter)
            for parameters, is_first_step in ((first, True), (later, False)):
                buffers = [self.state[parameter]["momentum_buffer"] for parameter in parameters]
                self._update(group, parameters, buffers, is_first_step=is_first_step)

    def _update(
        self, group: dict[str, Any], parameters: list[Tensor], buffers: list[Tensor], *, is_first_step: bool
    ) -> None:
        if parameters:
            torch._fused_sgd_(
                parameters,
                [parameter.grad for parameter in parameters if parameter.grad is not None],
                buffers,
                weight_decay=group["weight_decay"],
                momentum=group["momentum"],
                lr=group["lr"],
                dampening=group["dampening"],
                nesterov=group["nesterov"],
                maximize=False,
                is_first_step=is_first_step,
            )
