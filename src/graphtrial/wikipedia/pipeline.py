"""Pipeline from a folder of dumps to a dataset."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets.dataset import Dataset
from graphtrial.datasets.wikics import Validation
from graphtrial.wikipedia.articles import read_articles
from graphtrial.wikipedia.categories import CategoryRules, categories
from graphtrial.wikipedia.dataset import keep_dataset
from graphtrial.wikipedia.dumps.categorylinks import mentions_of_tables
from graphtrial.wikipedia.dumps.files import Dumps
from graphtrial.wikipedia.dumps.parquet import MEMORY_GB
from graphtrial.wikipedia.dumps.tables import read_dump
from graphtrial.wikipedia.export import export
from graphtrial.wikipedia.features import features
from graphtrial.wikipedia.labels import Mapped, labels
from graphtrial.wikipedia.links import links, of_tables, of_texts
from graphtrial.wikipedia.stages import StageCache, StageResult, identity
from graphtrial.wikipedia.text.texts import TextRules, texts

Origin = Literal["tables", "text"]
STAGES = ("tables", "articles", "categories", "labels", "texts", "links", "features", "export")


@dataclass(frozen=True)
class Pipeline:
    """Stages of one build as lazy properties; each builds the stages it depends on, unless they are cached.

    `links_from` is the source of links: the SQL tables, as for Wiki-CS, or the wikitext of the articles, which needs
    the XML dump only. `categories_from` is the source of categories: wikitext, as for Wiki-CS, or the SQL tables,
    which include categories added by templates.
    """

    stages: StageCache
    dumps: Dumps
    mapping: Mapped | None = None
    glove: Path | None = None
    category_rules: CategoryRules = field(default_factory=CategoryRules)
    text_rules: TextRules = field(default_factory=TextRules)
    links_from: Origin = "tables"
    categories_from: Origin = "text"
    allow_truncated: bool = False
    memory_gb: float = MEMORY_GB

    @cached_property
    def tables(self) -> dict[str, StageResult]:
        """Parsed SQL dumps, one stage each."""
        wanted = {"page", "redirect", "pagelinks"} if self.links_from == "tables" else set()
        wanted |= {"page", "categorylinks"} if self.categories_from == "tables" else set()
        results = {name: self._table(name) for name in self.dumps.tables if name in wanted}
        if any("target" in each.report["columns"] for each in results.values()) and "linktarget" in self.dumps.tables:
            results["linktarget"] = self._table("linktarget")
        return results

    @cached_property
    def articles(self) -> list[StageResult]:
        """Parsed XML dumps, one stage each."""
        return [
            self._dump(f"articles-{number}", path, partial(read_articles, path))
            for number, path in enumerate(self.dumps.articles)
        ]

    @cached_property
    def categories(self) -> StageResult:
        """Categories ranked by centrality, milestones, and the milestones of articles."""
        by_table = self.categories_from == "tables"
        mentions = [mentions_of_tables(self.stages, self.tables, self.memory_gb)] if by_table else self.articles
        return categories(self.stages, mentions, self.category_rules, self.memory_gb)

    @cached_property
    def labels(self) -> StageResult:
        """Labelled articles: those of exactly one class."""
        if self.mapping is None:
            raise GraphTrialError("give the classes with --labels: a JSON file, or compsci for those of Wiki-CS")
        return labels(self.stages, self.categories, self.articles, self.mapping, self.memory_gb)

    @cached_property
    def texts(self) -> StageResult:
        """Tokens and links of the labelled articles."""
        return texts(self.stages, self.labels, self.dumps.articles, self.text_rules, self.allow_truncated)

    @cached_property
    def links(self) -> StageResult:
        """Nodes and edges of the graph."""
        by_text = self.links_from == "text"
        relations, holders = of_texts(self.articles, self.texts) if by_text else of_tables(self.tables)
        return links(self.stages, self.labels, self.texts, relations, holders, self.memory_gb)

    @cached_property
    def features(self) -> StageResult:
        """Node features: mean word vectors."""
        if self.glove is None:
            raise GraphTrialError("give a file of word vectors with --glove, such as glove.6B.300d.txt")
        return features(self.stages, self.links, self.texts, self.glove)

    @cached_property
    def export(self) -> StageResult:
        """Files of the finished dataset."""
        return export(self.stages, self.links, self.texts, self.features, list(self.mapping or {}))

    def keep(self, name: str, validation: Validation = "merged", *, replace: bool = False) -> Dataset:
        """Build all stages and register the result as the dataset `name`."""
        return keep_dataset(name, self.export, self.features, validation, replace=replace)

    def run(self, stage: str) -> list[StageResult]:
        """Run a stage by name; `tables` and `articles` are several."""
        if stage not in STAGES:
            raise GraphTrialError(f"no stage called '{stage}'; the stages are {', '.join(STAGES)}")
        results = getattr(self, stage)
        return (
            [results]
            if isinstance(results, StageResult)
            else list(results.values())
            if isinstance(results, dict)
            else results
        )

    def _table(self, name: str) -> StageResult:
        path = self.dumps.tables[name]
        return self._dump(f"table-{name}", path, partial(read_dump, path, name))

    def _dump(self, stage: str, path: Path, read: Callable[..., dict[str, Any]]) -> StageResult:
        parameters = {"file": identity(path), "allow_truncated": self.allow_truncated}
        return self.stages.stage(
            stage, parameters, [], lambda folder: read(folder, allow_truncated=self.allow_truncated)
        )
