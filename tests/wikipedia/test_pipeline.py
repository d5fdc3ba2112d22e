"""The whole pipeline against a naive reference, on synthetic and sample dumps."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.wikipedia import slow

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.files import sha256_of
from graphtrial.datasets import load
from graphtrial.datasets.custom import delete, names
from graphtrial.datasets.wikics import read_data
from graphtrial.wikipedia.categories import CategoryRules
from graphtrial.wikipedia.dumps.files import find_dumps
from graphtrial.wikipedia.labels import COMPSCI, read_mapping
from graphtrial.wikipedia.pipeline import Pipeline
from graphtrial.wikipedia.stages import StageCache, StageResult
from graphtrial.wikipedia.synthetic.wiki import Wiki
from graphtrial.wikipedia.synthetic.xml import write_wiki
from graphtrial.wikipedia.text.tokens import tokenizer

MILESTONES = 31
"""Everything, the ten topics, and so many more that some categories below a topic are milestones themselves."""


@pytest.fixture(autouse=True)
def forget(own_home: Path) -> Any:
    yield
    for name in names():
        delete(name)


@pytest.fixture(scope="module", params=["new", "old"])
def wiki(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Dumps of a small wiki, of the new schema and of the old one."""
    folder = tmp_path_factory.mktemp("wiki") / request.param
    created = Wiki(600, seed=3, links=8, words=12, vocabulary=300, classes=6, modern=request.param == "new")
    write_wiki(created, folder, dimensions=7)
    return folder


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stages shared by the tests that do not change them."""
    return tmp_path_factory.mktemp("work")


def pipeline(folder: Path, work: Path, **options: Any) -> Pipeline:
    given = {"category_rules": CategoryRules(milestones=MILESTONES), "memory_gb": 1, **options}
    if "mapping" not in given:
        given["mapping"] = read_mapping(str(folder / "labels.json"))
    return Pipeline(StageCache(work), find_dumps(folder), **{"glove": folder / "glove.txt", **given})


def result(built: Pipeline) -> tuple[dict[str, Any], dict[str, Any]]:
    folder = built.export.folder
    return (json.loads((folder / name).read_text(encoding="utf-8")) for name in ("data.json", "metadata.json"))  # type: ignore[return-value]


@pytest.mark.slow
def test_dataset_matches_a_naive_implementation(wiki: Path, work: Path) -> None:
    data, metadata = result(pipeline(wiki, work))
    mapping = json.loads((wiki / "labels.json").read_text())
    pages = slow.xml_pages(wiki / "synthetic-pages-articles-multistream.xml.bz2")
    classes = slow.labelled(pages, mapping, MILESTONES)
    assert 50 < len(classes) < 360
    assert len(set(classes.values())) == 6
    ids = sorted(classes)
    links = slow.links_of_tables(wiki, set(ids))
    by_id = {page["id"]: page for page in pages}
    tokens = [slow.words_of_synthetic(by_id[node]["text"], tokenizer()) for node in ids]
    row = {node: number for number, node in enumerate(ids)}

    assert metadata["labels"] == {str(number): name for number, name in enumerate(mapping)}
    assert metadata["nodes"] == [
        {
            "id": node,
            "title": by_id[node]["title"].replace(" ", "_"),
            "label": classes[node],
            "outlinks": links[node],
            "tokens": words,
        }
        for node, words in zip(ids, tokens, strict=True)
    ]
    assert data["labels"] == [list(mapping).index(classes[node]) for node in ids]
    assert data["links"] == [[row[target] for target in links[node]] for node in ids]
    for number in range(0, len(ids), 29):
        assert data["features"][number] == slow.mean_vector(tokens[number], wiki / "glove.txt")
    expected = slow.masks([classes[node] for node in ids], list(mapping))
    assert {name: data[name] for name in expected} == expected
    assert set(data) == {"features", "labels", "links", *expected}


@pytest.mark.slow
def test_table_categories_give_the_same_dataset_without_templates(wiki: Path, work: Path) -> None:
    by_text, by_table = pipeline(wiki, work), pipeline(wiki, work, categories_from="tables")
    assert by_table.categories.key != by_text.categories.key
    assert by_table.categories.report["memberships"] == by_text.categories.report["memberships"]
    assert list(result(by_table)) == list(result(by_text))


@pytest.mark.slow
def test_text_links_give_the_same_dataset_without_tables(wiki: Path, work: Path, tmp_path: Path) -> None:
    shutil.copy2(wiki / "synthetic-pages-articles-multistream.xml.bz2", tmp_path)
    mapping = read_mapping(str(wiki / "labels.json"))
    by_text = pipeline(tmp_path, work, links_from="text", mapping=mapping, glove=wiki / "glove.txt")
    assert by_text.tables == {}
    assert list(result(by_text)) == list(result(pipeline(wiki, work)))


@pytest.mark.slow
def test_builds_are_byte_identical(wiki: Path, work: Path, tmp_path: Path) -> None:
    first, second = (pipeline(wiki, folder).export.folder for folder in (work, tmp_path))
    for name in ("data.json", "metadata.json", "labels.npy", "ends.npy", "train.npy"):
        assert sha256_of(first / name) == sha256_of(second / name)


def test_export_is_read_by_the_wikics_reader(wiki: Path, work: Path) -> None:
    built = pipeline(wiki, work)
    x, y, ends, masks = read_data(built.export.folder / "data.json")
    report = built.export.report
    assert x.shape == (report["nodes"], report["dimensions"])
    assert ends.shape == (2, report["links"])
    assert np.bincount(y).tolist() == list(report["classes"].values())
    assert masks["train"].shape == (20, report["nodes"])
    parts = masks["train"] + 0 + masks["val"] + masks["stopping"] + masks["test"]
    assert (parts == 1).all()


@pytest.mark.slow
@pytest.mark.parametrize("validation", ["merged", "stopping"])
def test_build_is_registered_as_a_dataset(wiki: Path, work: Path, validation: Any) -> None:
    built = pipeline(wiki, work)
    dataset = built.keep("mine", validation)
    assert load("mine").hash == dataset.hash
    x, y, ends, masks = read_data(built.export.folder / "data.json")
    assert np.array_equal(dataset.graphs.column("x").values, x)
    assert np.array_equal(dataset.graphs.column("y").values, y)
    assert dataset.task.outputs == 6
    both = {*zip(*ends.tolist(), strict=True), *zip(*ends[::-1].tolist(), strict=True)}
    assert {*zip(*dataset.graphs.edge_index.tolist(), strict=True)} == both
    assert dataset.graphs.num_edges == len(both)
    assert len(dataset.splits) == 20
    val = masks["stopping"] if validation == "stopping" else masks["stopping"] | masks["val"]
    for number, split in enumerate(dataset.splits):
        assert split.train.tolist() == np.flatnonzero(masks["train"][number]).tolist()
        assert split.val.tolist() == np.flatnonzero(val[number]).tolist()
        assert split.test.tolist() == np.flatnonzero(masks["test"]).tolist()
    with pytest.raises(GraphTrialError, match="--replace"):
        built.keep("mine")


@pytest.mark.slow
def test_finished_stages_are_cached(wiki: Path, work: Path, tmp_path: Path) -> None:
    mapping = read_mapping(str(wiki / "labels.json"))
    pipeline(wiki, work).export  # noqa: B018, asking for it builds it

    def made_again(**options: Any) -> list[str]:
        received: list[StageResult] = []
        rules = {"mapping": mapping, "glove": wiki / "glove.txt", "category_rules": CategoryRules(MILESTONES)}
        built = Pipeline(StageCache(work, received.append), find_dumps(wiki), **{**rules, "memory_gb": 1.0, **options})
        built.export  # noqa: B018
        return sorted(created.name for created in received if not created.is_cached)

    last = ["export", "features", "labels", "links", "texts"]
    assert made_again() == []
    assert made_again(mapping={name: mapping[name] for name in ("Topic 0", "Topic 1")}) == last
    assert made_again(category_rules=CategoryRules(MILESTONES + 1)) == ["categories", *last]
    vectors = shutil.copy(wiki / "glove.txt", tmp_path / "more.txt")
    with vectors.open("a", encoding="utf-8") as file:
        file.write("more " + " ".join(["1"] * 7) + "\n")
    assert made_again(glove=vectors) == ["export", "features"]
    assert made_again() == []


@pytest.mark.slow
def test_real_sample_matches_a_naive_implementation(mirror: Path, tmp_path: Path) -> None:
    samples = mirror / "wiki_samples"
    name = "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
    (tmp_path / "dumps").mkdir()
    shutil.copy(samples / name, tmp_path / "dumps")
    pages = slow.xml_pages(samples / name)
    short = [page for page in pages if page["ns"] == 0 and 0 < len(page["text"]) < 60_000 and not page["redirect"]]
    first = [names[0] for page in short if (names := slow.categories_of(page["text"]))]
    mapping = {"even": first[::2], "odd": first[1::2]}
    apart = {page["id"] for page in pages if "{{disambiguation" in page["text"].lower()}
    classes = {node: name for node, name in slow.labelled(pages, mapping, 10_000).items() if node not in apart}
    assert len(classes) > 30
    options = {"links_from": "text", "category_rules": CategoryRules(), "glove": samples / "test_glove.txt"}
    built = pipeline(tmp_path / "dumps", tmp_path / "work", mapping=mapping, **options)
    links = slow.links_of_texts(pages, set(classes))
    assert sum(map(len, links.values())) > 10
    _, metadata = result(built)
    assert {node["id"]: node["label"] for node in metadata["nodes"]} == classes
    assert {node["id"]: node["outlinks"] for node in metadata["nodes"]} == links
    assert built.features.report["dimensions"] == 50


def test_compsci_mapping_matches_wikics(mirror: Path) -> None:
    published = json.loads((mirror / "WikiCS" / "compsci_label_mapping.json").read_text())
    assert {name: sorted(parts) for name, parts in COMPSCI.items()} == {n: sorted(p) for n, p in published.items()}
    statistics = json.loads((mirror / "WikiCS" / "statistics.json").read_text())
    assert list(COMPSCI) == statistics["labels"]
    assert read_mapping("compsci") == COMPSCI
