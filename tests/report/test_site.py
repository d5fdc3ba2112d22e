"""The site as files: complete, well formed, linked, escaped, without network requests."""

from __future__ import annotations

import csv
import dataclasses
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
from tests.helpers.sites import EVIL, plan, record, sample_store, session_cache

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.spec import Component
from graphtrial.plots.cached import cached_plots
from graphtrial.published import PAPERS, published_results
from graphtrial.report import write_site
from graphtrial.report.addresses import file_name
from graphtrial.report.build import MARKER
from graphtrial.report.pages.errata import render
from graphtrial.report.site import Prepared
from graphtrial.results import result_rows
from graphtrial.trials import Store

VOID = {"meta", "link", "br", "img", "input", "rect", "path", "line", "circle"}

pytestmark = pytest.mark.slow


class Page(HTMLParser):
    """Checks that tags are closed in order, and collects links, scripts and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.scripts: list[dict[str, str | None]] = []
        self.handlers: list[str] = []
        self.meta: dict[str, str] = {}
        self.texts: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        actual = dict(attrs)
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src")]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.handlers += [name for name, _ in attrs if name.startswith("on") or name == "style"]
        if tag == "meta":
            self.meta |= {actual[key] or "": actual["content"] or "" for key in ("name", "property") if key in actual}
        if tag == "script":
            self.scripts.append(actual)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, session_home: Path) -> Path:
    """A site about a store in which one dataset, model and setting has an evil name."""
    folder = tmp_path_factory.mktemp("site")
    with session_cache(session_home):
        store = sample_store(folder / "store.sqlite", evil=True)
    picture = folder / "picture.png"
    picture.write_bytes(b"not looked at")
    facts = {
        "statistics": [{"what": EVIL, "ours": 1.5, "published": [1, 2], "agrees": True, "rule": "r"}],
        "hash": "0" * 64,
    }
    registered = {"csl": Prepared({**facts, "source_means": EVIL, "source": "s"}, (picture,))}
    page = write_site(
        store, folder / "site", prepare=lambda name, _: registered.get(name, Prepared()), store_option=" --shipped"
    )
    assert page == folder / "site" / "index.html"
    return folder / "site"


def pages(site: Path) -> dict[Path, Page]:
    return {file: Page(file.read_text(encoding="utf-8")) for file in sorted(site.rglob("*.html"))}


def test_every_link_resolves_within_the_site(site: Path) -> None:
    actual = pages(site)
    assert len(actual) > 25
    for file, page in actual.items():
        for address in page.addresses:
            path, place = urldefrag(address)
            target = (file.parent / unquote(path)).resolve() if path else file
            if path.startswith("https://"):
                assert file.name == "errata.html"
                continue
            assert target.is_file(), (file, address)
            assert site.resolve() in target.parents
            assert not place or place in actual[target].ids


def test_every_page_has_a_title_a_description_and_a_preview(site: Path) -> None:
    titles = {}
    for file, page in pages(site).items():
        text = file.read_text(encoding="utf-8")
        titles[file] = re.findall(r"<title>(.+) · GraphTrial</title>", text)
        assert len(titles[file]) == 1
        assert page.meta["og:title"]
        assert 20 < len(page.meta["description"]) <= 300
        assert page.meta["description"] == page.meta["og:description"]
        if file.parent.name != "trials":  # too many, and each of them too small, for a preview
            assert (file.parent / page.meta["og:image"]).read_bytes().startswith(b"\x89PNG")
        assert len(page.ids) == len(set(page.ids)), file
    for folder in (site, site / "datasets", site / "models", site / "papers", site / "trials"):
        of_it = [title[0] for file, title in titles.items() if file.parent == folder]
        assert len(of_it) == len(set(of_it)), folder


def test_every_row_has_an_address_that_does_not_depend_on_its_place(site: Path, tmp_path: Path) -> None:
    rows = result_rows(Store(site.parent / "store.sqlite").trials())
    actual = pages(site)
    for row in rows:
        page = actual[site / "datasets" / f"{file_name(row.first.spec.dataset)}.html"]
        assert row.id in page.ids
        assert f"#{row.id}" in page.addresses
        assert row.id in actual[site / "models" / f"{file_name(row.first.spec.model.name)}.html"].ids
    compared = [row.id for row in rows if row.published]
    assert compared
    assert set(compared) <= set(actual[site / "papers.html"].ids)
    store = Store(tmp_path / "store.sqlite")
    for number, spec in enumerate(plan(seeds=1)):  # scores in the opposite order, fewer trials
        record(store, spec, 90.0 - number, epochs=3)
    other = Page((write_site(store, tmp_path / "site").parent / "datasets" / "csl.html").read_text(encoding="utf-8"))
    before = actual[site / "datasets" / "csl.html"]
    first, second = ([name for name in page.ids if name.startswith("row-")] for page in (before, other))
    assert first != second
    assert set(first) == set(second)


def test_published_site_has_absolute_addresses_and_a_sitemap(tmp_path: Path) -> None:
    store = Store(tmp_path / "store.sqlite")
    record(store, plan(seeds=1)[0], 50.0, epochs=2)
    folder = write_site(store, tmp_path / "site", url="https://example.org/gt").parent
    page = Page((folder / "datasets" / "csl.html").read_text(encoding="utf-8"))
    assert page.meta["og:image"] == "https://example.org/gt/static/preview.png"
    assert page.meta["og:url"] == "https://example.org/gt/datasets/csl.html"
    listed = re.findall(r"<loc>https://example.org/gt/([^<]+)</loc>", (folder / "sitemap.xml").read_text())
    assert sorted(listed) == sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*.html"))
    with pytest.raises(GraphTrialError, match="not the address of a site"):
        write_site(store, tmp_path / "other", url='x"><script>')
    assert not (tmp_path / "other").exists()


def test_first_page_explains_its_words(site: Path) -> None:
    text = "".join(Page((site / "index.html").read_text(encoding="utf-8")).texts)
    for word in ("Trial", "Row", "Protocol", "Encoding", "Verdict", "Badge", "reproduced", "inconclusive"):
        assert word in text
    assert "confidence interval" in text


def test_pages_have_no_external_requests_or_inline_scripts(site: Path) -> None:
    for file, page in pages(site).items():
        text = file.read_text(encoding="utf-8")
        policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
        assert policy
        assert "default-src 'none'" in policy[1]
        assert "http" not in policy[1]
        assert "unsafe" not in policy[1]
        assert [
            s for s in page.scripts if s.get("type") != "application/json" and "static/" not in (s.get("src") or "")
        ] == []
        assert page.handlers == []


def test_names_are_escaped(site: Path) -> None:
    seen = 0
    for file, page in pages(site).items():
        text = file.read_text(encoding="utf-8")
        assert "<script>alert" not in text
        seen += EVIL in "".join(page.texts)
    assert seen >= 6  # overview, dataset, model, row, trials, and the page of each trial


def test_chart_data_are_valid_json_for_any_names(site: Path) -> None:
    names = set()
    for file in site.rglob("*.html"):
        for block in re.findall(r'<script type="application/json">(.*?)</script>', file.read_text(encoding="utf-8")):
            for view in json.loads(block)["views"]:
                names |= {item["name"] for item in view.get("series", view.get("items", []))}
    assert any(EVIL in name for name in names)


def test_every_dataset_model_row_and_trial_has_a_page(site: Path) -> None:
    assert len(list((site / "datasets").glob("*.html"))) == 3
    assert len(list((site / "models").glob("*.html"))) == 5
    assert len(list((site / "rows").glob("row-*.html"))) == 17
    assert len(list((site / "trials").glob("*.html"))) == 4 * 2 * 5 * 2 + 16 + 1 + 2
    assert {"index.html", "papers.html", "compare.html", "trials.html", "errata.html"} <= {
        f.name for f in site.iterdir()
    }


def test_trial_page_has_specification_environment_error_and_command(site: Path) -> None:
    failed = [page for file, page in pages(site).items() if file.parent.name == "trials" and "Error" in page.texts]
    assert len(failed) == 1
    text = "".join(failed[0].texts)
    assert f"Traceback of {EVIL}" in text
    assert '"batch_size": 5' in text
    assert '"torch": "2"' in text
    trial = re.search(r"Trial ([0-9a-f]{16})", text)
    assert trial
    assert f"graphtrial reproduce {trial[1]} --shipped" in text


def test_tables_are_exported_in_four_formats_with_equal_cells(site: Path) -> None:
    names = {file.stem for file in (site / "tables").iterdir()}
    for name in names:
        with (site / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
            lines = list(csv.reader(stream))
        if name == "trials" or name.endswith("-published") or name.removeprefix("paper-") in PAPERS:  # long lists
            assert {file.suffix for file in (site / "tables").glob(f"{name}.*")} == {".csv"}
            continue
        result = json.loads((site / "tables" / f"{name}.json").read_text(encoding="utf-8"))
        assert len(result["rows"]) == len(lines) - 1
        assert all(len(line) == len(lines[0]) for line in lines)
        assert (site / "tables" / f"{name}.md").exists()
        latex = (site / "tables" / f"{name}.tex").read_text(encoding="utf-8")
        assert latex.count(r"\\" + "\n") == len(lines)
        assert EVIL not in latex
    assert {"csl-0", "papers", "trials", "missing"} <= names
    best = (site / "tables" / "csl-0.tex").read_text(encoding="utf-8")
    assert best.count(r"\textbf{") == best.count(r"\underline{") == 1


def test_published_results_are_shown_with_their_origin_and_source(site: Path) -> None:
    assert "Published results on CSL" in (site / "datasets" / "csl.html").read_text(encoding="utf-8")
    listed = (site / "papers" / "hdse.html").read_text(encoding="utf-8")
    quoted = [row for row in published_results("hdse") if row.origin == "quoted"]
    assert len(quoted) > 50
    assert listed.count("<td>quoted</td>") == len(quoted)
    assert listed.count("<td>own</td>") == len(published_results("hdse")) - len(quoted)
    papers = (site / "papers.html").read_text(encoding="utf-8")
    for name in {row.paper for row in published_results() if isinstance(row.table, str)}:
        assert f'href="papers/{name}.html"' in papers


def test_overview_counts_verdicts_of_rows(site: Path) -> None:
    store = Store(site.parent / "store.sqlite")
    rows = [row for row in result_rows(store.trials()) if row.published]
    page = Page((site / "index.html").read_text(encoding="utf-8"))
    text = "".join(page.texts)
    for verdict in ("reproduced", "differs (better)", "differs (worse)", "inconclusive"):
        count = sum(row.verdict.label == verdict and not row.departures for row in rows)
        assert f"{count} {verdict}" in text
    assert rows


def test_the_page_of_a_model_names_the_protocol_of_each_row(site: Path) -> None:
    rows = result_rows(Store(site.parent / "store.sqlite").trials())
    gcn = {row.first.spec.protocol.partition("@")[0] for row in rows if row.first.spec.model.name == "gcn"}
    page = (site / "models" / f"{file_name('gcn')}.html").read_text(encoding="utf-8")
    assert gcn
    assert ">Protocol<" in page
    assert all(f">{protocol}<" in page for protocol in gcn)
    assert ">Protocol<" not in (site / "datasets" / f"{file_name('csl')}.html").read_text(encoding="utf-8")


def test_new_report_replaces_the_old_one_and_keeps_other_files(site: Path, tmp_path: Path) -> None:
    store = sample_store(tmp_path / "store.sqlite")
    first = write_site(store, tmp_path / "site")
    (first.parent / "rows" / "stale.html").write_text("from an earlier store")
    write_site(store, tmp_path / "site")
    assert not (first.parent / "rows" / "stale.html").exists()
    (first.parent / MARKER).unlink()
    with pytest.raises(GraphTrialError, match="would be lost"):
        write_site(store, tmp_path / "site")
    assert first.exists()
    with pytest.raises(GraphTrialError, match="is a file"):
        write_site(store, tmp_path / "store.sqlite")


def test_empty_store_raises(tmp_path: Path) -> None:
    with pytest.raises(GraphTrialError, match="no trials yet"):
        write_site(Store(tmp_path / "store.sqlite"), tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_infinite_scores_and_losses_are_rendered(tmp_path: Path) -> None:
    store = Store(tmp_path / "store.sqlite")
    for seed, spec in enumerate(plan(seeds=1)[:3]):
        record(store, spec, 1e300 if seed else 50.0, epochs=4)
    write_site(store, tmp_path / "site")
    for file in (tmp_path / "site").rglob("*.html"):
        for block in re.findall(r'<script type="application/json">(.*?)</script>', file.read_text(encoding="utf-8")):
            assert "Infinity" not in block
            assert json.loads(block)["views"]


def test_names_in_a_store_are_never_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "trap_of_a_store.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    store = Store(tmp_path / "store.sqlite")
    spec = plan(seeds=1)[0]
    trap = "trap_of_a_store:anything"
    for protocol in ("bgnn-v5/csl@1", "tudataset/gnn@1", "wikics/nodes@1", "bgnn-v1/zinc@1"):
        model = Component(trap, {})
        record(store, dataclasses.replace(spec, dataset=trap, model=model, protocol=protocol), 50.0, epochs=2)
    assert cached_plots(trap, spec.data) == ({}, ())
    page = write_site(store, tmp_path / "site")
    assert trap in page.read_text(encoding="utf-8")


def test_file_names_are_safe_and_unique() -> None:
    names = ["csl", "CSL", "tu/qm9", "tu-qm9", "..", "../../etc/passwd", "", "a b", "a-b", EVIL, "x" * 300, "con"]
    built = [file_name(name) for name in names]
    assert len(set(built)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9_-]{1,70}", name) for name in built)
    assert built[0] == "csl"


def test_html_in_documents_is_escaped() -> None:
    links = "[x](javascript:alert(1)) [y](https://arxiv.org/abs/1)"
    built = render(f"# A\n\n<script>alert(1)</script>\n\n{links}\n\n| a |\n|---|\n| b |\n")
    assert "<script>" not in built
    assert "javascript:" not in re.findall(r'href="([^"]*)"', built)
    assert "<table>" in built
