"""A fake device: tagged CPU tensors that follow the rules of a separate device.

Tensors that are moved to the fake device, and results computed from them, are tagged by their storage, and
`tensor.device` returns the fake device. An operation on tagged and untagged tensors fails, as it would on a GPU,
in the backward pass too; so do `numpy()` and raw pointers. Synchronizations are counted.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.autograd.function import BackwardCFunction
from torch.multiprocessing.reductions import StorageWeakRef
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

RAW = {"numpy", "data_ptr", "__array__", "__dlpack__", "__cuda_array_interface__"}
WAITING = {
    *("_local_scalar_dense", "nonzero", "masked_select", "equal", "is_nonzero", "bincount", "unique", "_unique2"),
    *("unique_dim", "unique_consecutive", "histc"),
}
"""Operators that synchronize because of their result or its shape."""
TRANSFERS = {"_to_copy", "copy_"}
_APPLY = BackwardCFunction.apply
REAL: str | None = None
"""Kind of device that is there, by the option --device of pytest."""


class MixedDevicesError(AssertionError):
    """An operation mixes devices, or reads the memory of a device from the host."""


class Pretended(TorchFunctionMode):
    """Mode in which `device` is there; `syncs` counts what waited for it, `operators` are those that it ran.

    `float_operators` are those with floating-point results.
    """

    def __init__(self, device: str) -> None:
        super().__init__()
        self.device = torch.device(device)
        self.syncs: Counter[str] = Counter()
        self.operators: set[str] = set()
        self.float_operators: set[str] = set()
        self.dtypes: set[torch.dtype] = set()
        self._tags: dict[int, StorageWeakRef] = {}
        self._dispatch = _Dispatch(self)
        self.inherits = False

    def __enter__(self) -> Any:
        self._dispatch.__enter__()
        BackwardCFunction.apply = lambda node, *grads: self._apply(node, *grads)  # type: ignore[method-assign]
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        BackwardCFunction.apply = _APPLY  # type: ignore[method-assign]
        self._dispatch.__exit__(*error)

    def has(self, value: Any) -> bool:
        """Whether a value is a tensor on the device."""
        return isinstance(value, Tensor) and value.untyped_storage()._cdata in self._tags

    def tag(self, value: Any) -> Any:
        """Put the tensors of a value on the device."""
        for tensor in tree_leaves(value):
            if isinstance(tensor, Tensor):
                storage = tensor.untyped_storage()
                self._tags[storage._cdata] = StorageWeakRef(storage)  # keeps the address from being used again
        return value

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        name = getattr(func, "__name__", "")
        if name == "__get__":
            return self._attribute(func, args)
        here = any(self.has(value) for value in tree_leaves((args, kwargs)))
        if here and name in RAW:
            raise MixedDevicesError(f"{name} of a tensor on {self.device}")
        if func is Tensor.backward:
            return self._run(torch.autograd.backward, args[:1], {}, inherits=here)
        if here and name == "tolist":
            self.syncs["tolist"] += 1
            return func(*args, **kwargs)
        if name in ("to", "cpu", "cuda", "pin_memory") and isinstance(args[0], Tensor):
            return self._move(name, func, args, kwargs)
        device = kwargs.get("device")
        if device is not None and torch.device(device).type == self.device.type:
            output = self._run(func, args, {**kwargs, "device": "cpu"}, inherits=True)
            return self.tag(output)
        return self._run(func, args, kwargs, inherits=here)

    def _run(self, func: Any, args: Any, kwargs: Any, *, inherits: bool) -> Any:
        before, self.inherits = self.inherits, inherits
        try:
            return func(*args, **kwargs)
        finally:
            self.inherits = before

    def _apply(self, node: Any, *grads: Any) -> Any:
        """Run the backward pass of a function that is written in Python, where torch switches modes off."""
        super().__enter__()
        try:
            return _APPLY(node, *grads)
        finally:
            super().__exit__(None, None, None)

    def _attribute(self, func: Any, args: Any) -> Any:
        getter, tensor = func.__self__, args[0]
        name = getattr(getter, "__name__", "")
        if name == "device" and self.has(tensor):
            return self.device
        if name in ("is_cuda", "is_mps", "is_cpu"):
            return (self.device.type if self.has(tensor) else "cpu") == name.removeprefix("is_")
        return func(*args)

    def _move(self, name: str, func: Any, args: Any, kwargs: Any) -> Tensor:
        tensor = args[0]
        if name == "pin_memory":
            return tensor.clone()
        to, dtype = torch.device("cpu"), None
        if name == "to":
            parsed = {key: value for key, value in kwargs.items() if key != "copy"}
            to, dtype, *_ = torch._C._nn._parse_to(*args[1:], **parsed)
            if to is None:
                return self._run(func, args, kwargs, inherits=self.has(tensor))
        there = to.type == self.device.type
        if there == self.has(tensor):
            return tensor if dtype is None else self._run(Tensor.to, (tensor, dtype), {}, inherits=there)
        if not there:
            self.syncs["copy to the host"] += 1
        with torch._C._DisableTorchDispatch():  # the transfer itself
            moved = tensor.detach().clone() if dtype is None else tensor.detach().to(dtype, copy=True)
        return self.tag(moved) if there else moved


class _Dispatch(TorchDispatchMode):
    def __init__(self, owner: Pretended) -> None:
        super().__init__()
        self.owner = owner

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        owner, kwargs = self.owner, kwargs or {}
        name = func.overloadpacket.__name__
        tensors = [value for value in tree_leaves((args, kwargs)) if isinstance(value, Tensor)]
        here = [owner.has(tensor) for tensor in tensors]
        if any(here):
            elsewhere = [t for t, tagged in zip(tensors, here, strict=True) if not tagged and t.dim() > 0]
            if elsewhere and name not in TRANSFERS:
                shapes = [tuple(tensor.shape) for tensor in elsewhere]
                raise MixedDevicesError(f"{func} mixes {owner.device} with tensors of the host {shapes}")
            if name in WAITING or _waits(name, args, kwargs):
                owner.syncs[name] += 1
        result = func(*args, **kwargs)
        if any(here) or (not tensors and owner.inherits):
            owner.operators.add(func.name().removeprefix("aten::"))
            outputs = [value for value in tree_leaves(result) if isinstance(value, Tensor)]
            owner.dtypes.update(tensor.dtype for tensor in outputs)
            if any(tensor.is_floating_point() for tensor in outputs):
                owner.float_operators.add(func.name().removeprefix("aten::"))
            owner.tag(outputs)
        return result


def _waits(name: str, args: Any, kwargs: Any) -> bool:
    if name in ("index", "index_put", "index_put_", "_index_put_impl_"):
        return any(isinstance(i, Tensor) and i.dtype in (torch.bool, torch.uint8) for i in args[1])
    return name == "repeat_interleave" and kwargs.get("output_size") is None


class Real:
    """A real device, on which nothing is counted: where devices are mixed, torch fails by itself."""

    def __init__(self) -> None:
        self.syncs: Counter[str] = Counter()
        self.operators: set[str] = set()
        self.float_operators: set[str] = set()
        self.dtypes: set[torch.dtype] = set()

    def __enter__(self) -> Real:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def pretended(device: str, monkeypatch: pytest.MonkeyPatch) -> Pretended | Real:
    """Return the mode, with what torch asks a driver for replaced by the CPU's; nothing for a real device."""
    if torch.device(device).type == REAL:
        return Real()
    for module in (torch.cuda, torch.mps):
        monkeypatch.setattr(module, "get_rng_state", lambda *_: torch.get_rng_state())
        monkeypatch.setattr(module, "set_rng_state", lambda state, *_: None)
        monkeypatch.setattr(module, "empty_cache", lambda: None)
    monkeypatch.setattr(torch.cuda, "set_device", lambda device: None)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "pretended")
    return Pretended(device)
