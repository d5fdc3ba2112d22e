"""Identity of a printed row in our names: dataset, model, settings, encoding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphtrial.nn import implied_settings, model_settings, resolve_settings

Model = tuple[str, dict[str, Any]]
"""A registered name and the settings that are not its defaults."""


@dataclass(frozen=True)
class Identity:
    """The experiment behind a printed row.

    `models` are the registered models it is about: several where one number is printed for all of them, none where it
    cannot be built. A `reason` says why no trial compares with it. `source` says where the settings come from.
    `params_exact` is the number of parameters of the model that was trained, where it is one model's; `erratum` what is
    wrong with the printed one.
    """

    datasets: tuple[str, ...]
    models: tuple[Model, ...] = ()
    encoding: str = "none"
    source: str = ""
    reason: str | None = None
    params_exact: int | None = None
    erratum: str | None = None


def own_settings(model: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a model that are not its defaults."""
    registered = model_settings(model)
    given = {key: value for key, value in settings.items() if key in registered}
    usual = {**registered, **implied_settings(model, given)}
    own = {key: value for key, value in given.items() if usual[key] != value}
    if "width" in own and resolve_settings(model, own) != resolve_settings(model, given):
        raise ValueError(f"the defaults of {model} hide {given}")
    return own
