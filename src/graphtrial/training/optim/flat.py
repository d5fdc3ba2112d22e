"""Parameters, gradients and moments of an optimizer in one flat buffer each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

ALIGNMENT = 16
"""Elements to which the memory of a parameter is padded: whole vectors, of any instruction set."""


def can_flatten(parameters: Iterable[Tensor]) -> bool:
    """Return whether these tensors can share a buffer: on the CPU, in single precision."""
    return all(
        p.device.type == "cpu" and p.dtype == torch.float32 and p.is_contiguous() and p.layout == torch.strided
        for p in parameters
    )


class FlatParameters:
    """Parameters that are moved into one flat buffer, of which they become views, with gradients and states alike.

    A fused optimizer updates all of them in one call. Each is padded to whole vectors, so that an elementwise update
    rounds in the same way whether parameters are updated one by one or all at once. Views are flat and padded.
    """

    def __init__(self, parameters: Sequence[Tensor], states: Sequence[str]) -> None:
        self.parameters = list(parameters)
        self.index = {id(parameter): at for at, parameter in enumerate(self.parameters)}
        self.data = self._buffer()
        self.gradient = self._buffer()
        self.states = {name: self._buffer() for name in states}
        self.steps = torch.zeros(len(self.parameters))
        self.uniform = True
        """Whether all parameters have been updated equally often."""
        for parameter, view in zip(self.parameters, self.views(self.data), strict=True):
            view[: parameter.numel()] = parameter.detach().flatten()
            parameter.data = view[: parameter.numel()].view(parameter.shape)
        self._addresses = [parameter.data_ptr() for parameter in self.parameters]
        self.gradients = [self._shaped(parameter, view) for parameter, view in self._pairs(self.gradient)]

    def is_current(self) -> bool:
        """Return whether the parameters still lie in the buffer: somebody may have given them other memory."""
        return self._addresses == [parameter.data_ptr() for parameter in self.parameters]

    def views(self, buffer: Tensor) -> list[Tensor]:
        """Return the padded part of each parameter in a buffer."""
        return list(buffer.split([_padded(parameter) for parameter in self.parameters]))

    def state(self, at: int) -> dict[str, Tensor]:
        """Return the state of one parameter: views of the buffers."""
        parameter = self.parameters[at]
        views = {name: self._shaped(parameter, self.views(buffer)[at]) for name, buffer in self.states.items()}
        return {"step": self.steps[at], **views}

    def collect_gradients(self) -> None:
        """Copy gradients that lie elsewhere into the buffer."""
        apart = [
            (view, parameter.grad)
            for parameter, view in zip(self.parameters, self.gradients, strict=True)
            if parameter.grad is not None and parameter.grad is not view
        ]
        if apart:
            torch._foreach_copy_([view for view, _ in apart], [gradient for _, gradient in apart])

    def _buffer(self) -> Tensor:
        return torch.zeros(sum(map(_padded, self.parameters)))

    def _pairs(self, buffer: Tensor) -> Iterable[tuple[Tensor, Tensor]]:
        return zip(self.parameters, self.views(buffer), strict=True)

    @staticmethod
    def _shaped(parameter: Tensor, view: Tensor) -> Tensor:
        return view[: parameter.numel()].view(parameter.shape)


def _padded(parameter: Tensor) -> int:
    return -(-parameter.numel() // ALIGNMENT) * ALIGNMENT
