"""Settings of a study's rows from the rows of a published table."""

from __future__ import annotations

from typing import Any

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.spec import Component
from graphtrial.published.lookup import models_in_table


def settings_in_table(
    table: str, dataset: str, model: str, settings: dict[str, Any], encoding: Component | None
) -> list[dict[str, Any]]:
    """Return the settings of every experiment of a published table that has this model, dataset and encoding.

    `settings` narrow them: those given must be the experiment's own.
    """
    rows = models_in_table(table, dataset, model, settings, encoding)
    if not rows:
        given = ", ".join(f"{key} = {value}" for key, value in settings.items()) or "any settings"
        raise GraphTrialError(
            f"{table} has no row on {dataset} for {model} with {given}, encoding {encoding or 'none'}"
        )
    return [{**published.settings, **settings} for _, published in rows]
