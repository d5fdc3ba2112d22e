"""Columns of ranks: mean rank of each model, and a column per dataset."""

from __future__ import annotations

from collections.abc import Sequence

from graphtrial.results.columns.column import SITE, TABLES, TERMINAL, Column, ColumnTable
from graphtrial.results.columns.formats import number
from graphtrial.results.statistics.ranks import RankedModel
from graphtrial.results.titles import dataset_title


def rank_columns(datasets: Sequence[str]) -> ColumnTable[RankedModel]:
    """Return the columns of models ranked over `datasets`: the terminal shows mean test scores, the site ranks."""
    return ColumnTable(
        [
            Column("model", "Model", "name of the model", lambda model: model.name, align="left", outputs=TABLES),
            Column(
                "mean_rank",
                "Mean rank",
                "mean rank over the datasets",
                lambda model: model.mean_rank,
                number(".2f"),
                outputs=TABLES,
            ),
            *(_score(dataset) for dataset in datasets),
            *(_rank(dataset) for dataset in datasets),
        ]
    )


def _score(dataset: str) -> Column[RankedModel]:
    return Column(
        f"score_{dataset}",
        dataset_title(dataset),
        f"mean test score on {dataset}",
        lambda model: model.scores[dataset],
        number(".3f"),
        outputs=TERMINAL,
    )


def _rank(dataset: str) -> Column[RankedModel]:
    return Column(
        f"rank_{dataset}",
        dataset_title(dataset),
        f"rank on {dataset}",
        lambda model: model.ranks[dataset],
        number("g"),
        outputs=SITE,
    )
