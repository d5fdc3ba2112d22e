"""Parameter budgets: the largest width within a budget, by bisection."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from graphtrial.core.errors import GraphTrialError, in_one_line
from graphtrial.core.plugins.loader import describe_user_error
from graphtrial.core.spec import format_value
from graphtrial.nn.registry import build_model, count_parameters, width_step
from graphtrial.nn.shapes import Shapes

NARROWEST, WIDEST = 4, 1 << 16  # the halving head needs a quarter of the width


def parse_budget(text: str) -> int:
    """Parse a number of parameters such as `100k`, `0.5M` or `100000`."""
    match = re.fullmatch(r"(\d{1,15}(?:\.\d{1,15})?)([kKmM]?)", text.strip())
    budget = round(float(match[1]) * {"": 1, "k": 1_000, "m": 1_000_000}[match[2].lower()]) if match else 0
    if budget < 1:
        raise GraphTrialError(
            f"'{text}' is not a parameter budget; write for example 100k, 0.5M or 100000 (trials, epochs and hours are "
            "what `graphtrial tune` may spend)"
        )
    return budget


def width_for_budget(name: str, shapes: Shapes, settings: dict[str, Any], budget: int) -> int:
    """Return the largest width whose exact parameter count is at most `budget`, by bisection.

    Widths below the narrowest one that can be built, such as that of the encoded positions, are passed over.
    """
    step = width_step(name, settings)
    high = -(-NARROWEST // step) * step
    below, best = high - step, 0
    error: GraphTrialError | None = None

    def exceeds(width: int) -> bool:
        nonlocal below, best, error
        try:
            if parameter_count(name, shapes, {**settings, "width": width}) > budget:
                return True
            best = width
        except GraphTrialError as failed:
            if failed.__cause__ is not None:  # an error of the constructor, not a setting that it refuses
                raise
            error = error or failed
        below = width
        return False

    while not exceeds(high):
        high *= 2
        if high > WIDEST:
            if not best and error is not None:
                raise error
            raise GraphTrialError(f"a budget of {budget} parameters needs a width above {WIDEST}; lower the budget")
    while high - below > step:
        middle = (below + high) // (2 * step) * step
        if exceeds(middle):
            high = middle
    if not best:
        raise GraphTrialError(
            f"model '{name}' has more than {budget} parameters even at width {high}; raise the budget, or set fewer "
            "layers"
        ) from error
    return best


def parameter_count(name: str, shapes: Shapes, settings: dict[str, Any]) -> int:
    """Count the parameters of a model, built on the meta device without memory or random initialisation.

    A constructor that reads values of tensors, such as by `.item()`, fails there and is run on the CPU.
    """
    try:
        with torch.device("meta"), _SkipInitialisation():
            return count_parameters(build_model(name, shapes, settings))
    except GraphTrialError as error:
        if error.__cause__ is None:
            raise
    except Exception:  # noqa: BLE001 - whatever the constructor of a user's model raises; the CPU shows if it is one
        pass
    try:
        with torch.random.fork_rng(devices=[]):
            return count_parameters(build_model(name, shapes, settings))
    except (GraphTrialError, MemoryError, OSError):
        raise
    except Exception as error:
        cause = describe_user_error(error) or in_one_line(error)
        raise GraphTrialError(
            f"model '{name}' cannot be built with {_listed(settings)}: {cause}; where a setting must divide the width, "
            "name it as the class attribute `width_divisor`"
        ) from error


def _listed(settings: dict[str, Any]) -> str:
    return ", ".join(f"{key}={format_value(value)}" for key, value in settings.items()) or "its defaults"


class _SkipInitialisation(TorchFunctionMode):
    """Skip weight initialisation, whose first call on the meta device takes more than a second of imports."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "").endswith(("normal_", "uniform_")):
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs or {}))
