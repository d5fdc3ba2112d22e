"""Display names: everything that is registered has one, declared where it is registered, and no two share one."""

from __future__ import annotations

import pytest

from graphtrial.core.registry import Registry
from graphtrial.datasets import DATASETS
from graphtrial.encodings import ENCODINGS
from graphtrial.kernels import KERNELS
from graphtrial.nn import MODELS
from graphtrial.published import published_results
from tools.normalize_published.benchmarking_gnns import NAMES
from tools.normalize_published.raw import plain

REGISTRIES = {registry.kind: registry for registry in (DATASETS, MODELS, KERNELS, ENCODINGS)}


@pytest.mark.parametrize("kind", REGISTRIES)
def test_titles_are_unique(kind: str) -> None:
    registry = REGISTRIES[kind]
    ours = [name for name in registry if "graphtrial." in getattr(registry.get(name), "__module__", "")]
    assert ours
    titles = {name: registry.title(name) for name in ours}
    assert [name for name, title in titles.items() if title != title.strip() or not title] == []
    assert len(set(titles.values())) == len(titles)
    undeclared = [name for name, title in titles.items() if title == name and title.islower()]
    assert [name for name in undeclared if getattr(registry.get(name), "collection_name", "") != name] == []


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("csl", "CSL"),
        ("enzymes+labels", "ENZYMES (labels)"),
        ("tu/qm9", "QM9 (TU)"),
        ("qm9", "QM9"),
        ("cora+links", "Cora, links"),
        ("citeseer+links-hard-1000", "CiteSeer, hard links, 1,000 examples"),
        ("wikics-standin+links", "Wiki-CS stand-in, links"),
        ("ogbl-collab-standin-500", "OGBL-COLLAB stand-in, 500 authors"),
        ("of-a-stranger", "of-a-stranger"),
        ("os:system", "os:system"),
        ("", ""),
    ],
)
def test_titles_of_families_and_unregistered_names(name: str, title: str) -> None:
    assert DATASETS.title(name) == title


def test_model_titles_match_the_papers() -> None:
    printed = {plain(row.printed.model): row.printed.model for row in published_results()}
    for paper, ours in NAMES.items():
        if paper not in ("MLP-Gated", "GCN-vanilla", "MatrixFactorization"):  # a switch, another order, two words
            assert plain(MODELS.title(ours)) == plain(paper) == plain(printed[plain(paper)])


def test_title_is_declared_at_registration_and_removed_with_it() -> None:
    things: Registry[type] = Registry("thing", "graphtrial.tasks")

    @things.register("plane", title="The Plane")
    class Plane:
        pass

    @things.register("jet")
    class Jet(Plane):
        pass

    assert [things.title(name) for name in ("plane", "jet", "kite")] == ["The Plane", "jet", "kite"]
    things.remove("plane")
    assert things.title("plane") == "plane"
