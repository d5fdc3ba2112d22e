"""Which rows of "Wiki-CS" (arXiv:2007.02901) a trial may be compared with."""

from __future__ import annotations

from graphtrial.datasets.base import published_name
from graphtrial.published.results import PublishedRow, rows
from graphtrial.published.tables import plain

PAPER = "wikics"
DATASET = "WikiCS"
TABLES = {"": (2, "accuracy"), "links": (3, "ROC-AUC"), "links-10000": (4, "ROC-AUC")}
"""The table and the metric for what is asked about Wiki-CS, named as after `+` in the name of the dataset."""


def find_wikics(dataset: str, model: str, metric: str | None = None) -> PublishedRow | None:
    """Return the row of a model, or nothing; of the two metrics of link prediction ROC-AUC unless another is named."""
    name, _, question = dataset.partition("+")
    if plain(published_name(name)) != plain(DATASET) or question not in TABLES:
        return None
    table, usual = TABLES[question]
    found = rows(paper=PAPER, table=table, model=model.removesuffix("-direct"))
    return next((row for row in found if row.metric == (metric or usual)), None)
