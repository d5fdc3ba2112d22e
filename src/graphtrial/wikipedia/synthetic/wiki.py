"""Synthetic wiki of any size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graphtrial.datasets.generators.draws import Draws

CHUNK = 2_000
"""Pages per chunk; each chunk has its own random stream, so that memory does not grow with the wiki."""


@dataclass(frozen=True)
class Wiki:
    """Size of the wiki: articles, words and links per article, articles per category and per redirect."""

    articles: int
    seed: int = 0
    links: int = 20
    words: int = 60
    vocabulary: int = 5_000
    articles_per_category: int = 10
    articles_per_redirect: int = 3
    topics: int = 10
    classes: int = 3
    """Number of topics that are classes."""
    modern: bool = True
    """New schema: links refer to ids of the table linktarget, as since 2024, instead of titles."""

    @property
    def categories(self) -> int:
        """Number of categories; they form a tree rooted at the first."""
        return max(self.articles // self.articles_per_category, 4 * self.topics)

    @property
    def redirects(self) -> int:
        """Number of redirects."""
        return self.articles // self.articles_per_redirect


def parent_of_category(wiki: Wiki, category: int) -> int:
    """Return the parent category.

    Category 0 is the root, followed by one per topic, then by subcategories of each topic in turn, four per parent.
    """
    position, topic = divmod(category - 1, wiki.topics)
    return 0 if position == 0 else (position - 1) // 4 * wiki.topics + topic + 1


def category_name(wiki: Wiki, category: int) -> str:
    """Return the name of a category."""
    if category == 0:
        return "Everything"
    return f"Topic {category - 1}" if category <= wiki.topics else f"Matters of kind {category}"


def title_of(wiki: Wiki, page: int) -> str:
    """Return the title of an article or redirect by its index; some have characters that SQL escapes."""
    if page < wiki.articles:
        return f'Author\'s "work" no. {page}' if page % 50 == 0 else f"Article {page}"
    return f"Another name of {page - wiki.articles}"


@dataclass(frozen=True)
class Chunk:
    """Sampled categories (two each), links and words of consecutive articles."""

    first: int
    categories: npt.NDArray[np.int64]
    linked: npt.NDArray[np.int64]
    words: npt.NDArray[np.int64]


def chunks(wiki: Wiki) -> Iterator[Chunk]:
    """Yield all articles in chunks."""
    per_topic = max(1, wiki.articles // wiki.topics)
    for number, first in enumerate(range(0, wiki.articles, CHUNK)):
        count = min(CHUNK, wiki.articles - first)
        draws = Draws(wiki.seed, 100 + number)
        topic = (np.arange(first, first + count) % wiki.topics)[:, None]
        ranks = (wiki.categories - 2 - topic) // wiki.topics + 1
        categories = 1 + topic + wiki.topics * draws.below(np.broadcast_to(ranks, (count, 2)))
        shape = (count, wiki.links)
        near = topic + wiki.topics * draws.below(np.full(shape, per_topic))
        near = np.minimum(near, wiki.articles - 1)
        anywhere = draws.below(np.full(shape, wiki.articles))
        linked = np.where(draws.uniform(shape[0] * shape[1]).reshape(shape) < 0.8, near, anywhere)
        redirect = wiki.articles + draws.below(np.full(shape, max(1, wiki.redirects)))
        use = (draws.uniform(shape[0] * shape[1]).reshape(shape) < 0.2) & (wiki.redirects > 0)
        common = draws.below(np.full((count, wiki.words), wiki.vocabulary))
        own = draws.below(np.full((count, wiki.words), max(1, wiki.vocabulary // wiki.topics)))
        own = np.minimum(topic + wiki.topics * own, wiki.vocabulary - 1)
        words = np.where(draws.uniform(count * wiki.words).reshape(count, -1) < 0.5, own, common)
        yield Chunk(first, categories, np.where(use, redirect, linked), words)


def target_of_redirect(wiki: Wiki, redirect: int) -> int:
    """Return the target of a redirect; every fiftieth is a double redirect, which MediaWiki does not follow."""
    if redirect % 50 == 49:
        return wiki.articles + redirect - 1
    return redirect * 7919 % wiki.articles
