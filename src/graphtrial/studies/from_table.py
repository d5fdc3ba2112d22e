"""The rows of a study that are rows of a published table."""

from __future__ import annotations

from typing import Any

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.spec import Component
from graphtrial.published.models import EncodingFacts, parse_table, published_models


def settings_in_table(
    table: str, dataset: str, model: str, settings: dict[str, Any], encoding: Component | None
) -> list[dict[str, Any]]:
    """Return the settings of every row of a published table that is about this model, as far as it is described."""
    described = encoding_facts(encoding)
    found = [
        {**one.settings, **settings}
        for one in published_models(*parse_table(table))
        if dataset in one.datasets and one.fits(model, settings, described)
    ]
    if not found:
        told = ", ".join(f"{key} = {value}" for key, value in settings.items()) or "any settings"
        raise GraphTrialError(f"{table} has no row on {dataset} for {model} with {told}, encoding {encoding or 'none'}")
    return found


def encoding_facts(encoding: Component | None) -> EncodingFacts | None:
    """Return name, size and rule of an encoding, by which those of the papers are told apart."""
    if encoding is None:
        return None
    given = encoding.arguments
    return encoding.name, given.get("k"), given.get("sign", given.get("order"))
