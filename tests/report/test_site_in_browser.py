"""The site in a real browser: headless Chromium, without a network."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.sites import EVIL, plan, record, sample_store, session_cache

from graphtrial.report import write_site
from graphtrial.trials import Store
from tools.chromium import find_chromium

pytestmark = pytest.mark.slow

CHROMIUM = find_chromium()
PHONE, DESK = {"width": 360, "height": 740}, {"width": 1280, "height": 900}
CONTRAST = """() => {
  const light = (text) => {
    const straight = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = text.match(/[\\d.]+/g).map((v) => straight(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!/, 0\\)|transparent/.test(colour)) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const found = {};
  const words = "p, a, td, th, dt, dd, h1, h2, h3, summary, button, .verdict, footer, code, label";
  for (const node of document.querySelectorAll(words)) {
    if (!node.textContent.trim() || !node.checkVisibility()) continue;
    const [a, b] = [light(getComputedStyle(node).color), light(behind(node))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const name = node.tagName + "." + node.className;
    found[name] = Math.min(found[name] ?? 99, ratio);
  }
  return found;
}"""


FOCUSED = """() => {
  const at = document.activeElement;
  const where = at.closest("figure") ? "chart " : at.closest("th") ? "head " : "";
  return where + at.tagName.toLowerCase() + (at.id ? "#" + at.id : "") + (at.type === "search" ? " search" : "");
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, where there is one."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install playwright"
    )
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, session_home: Path) -> Path:
    """A site about made-up results, with an evil name among them."""
    folder = tmp_path_factory.mktemp("browsed")
    with session_cache(session_home):
        store = sample_store(folder / "store.sqlite", evil=True)
    return write_site(store, folder / "site").parent


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory, session_home: Path) -> Path:
    """A site about one row of twenty trials, of which three diverge."""
    folder = tmp_path_factory.mktemp("crowd")
    with session_cache(session_home):
        store = Store(folder / "store.sqlite")
        spec = plan(seeds=1)[0]
    for seed in range(20):
        diverging = 1e19 if seed in (2, 5, 11) else 1.0
        record(store, dataclasses.replace(spec, seed=seed), 50.0 + seed, epochs=60, val_loss=diverging)
    return write_site(store, folder / "site").parent


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page that fails the test on errors in the console and on requests that leave the disk."""
    context = browser.new_context(viewport=DESK, color_scheme="light")
    opened = context.new_page()
    trouble: list[str] = []
    opened.on("console", lambda message: trouble.append(message.text) if message.type in ("error", "warning") else None)
    opened.on("pageerror", lambda error: trouble.append(str(error)))
    opened.on("dialog", lambda dialog: trouble.append(f"dialog: {dialog.message}"))
    opened.on("request", lambda request_: None if request_.url.startswith("file://") else trouble.append(request_.url))
    opened.trouble = trouble
    yield opened
    assert trouble == []
    context.close()


def kinds(site: Path) -> list[Path]:
    """Return one page of each kind, and those of the evil name."""
    first = [sorted((site / kind).glob("*.html"))[0] for kind in ("rows", "trials")]
    return [
        *sorted(site.glob("*.html")),
        *(site / "datasets").glob("*.html"),
        *(site / "models").glob("*.html"),
        *(site / "papers" / f"{name}.html" for name in ("bgnn-v5-table-8", "bgnn-v5-table-10", "tudataset-table-1")),
        *first,
    ]


def column(page: Any, title: str) -> list[str]:
    """Return the visible cells of a column of the first table."""
    script = """(title) => {
      const table = document.querySelector(".grid table");
      const at = [...table.tHead.rows[0].cells].findIndex((cell) => cell.textContent.trim() === title);
      return [...table.tBodies[0].rows].filter((row) => !row.hidden).map((row) => row.cells[at].textContent);
    }"""
    actual: list[str] = page.evaluate(script, title)
    return actual


def test_every_page_renders_charts_at_phone_and_desktop_width(page: Any, site: Path) -> None:
    charts = 0
    for file in kinds(site):
        for size in (DESK, PHONE):
            page.set_viewport_size(size)
            page.goto(file.as_uri())
            wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert wide[0] <= wide[1], (file.name, wide)
            drawn = page.locator("figure.chart")
            charts += drawn.count()
            for i in range(drawn.count()):
                assert drawn.nth(i).locator(".plot svg > *").count() > 5, (file.name, i)
                sizes = (
                    drawn.nth(i)
                    .locator(".plot svg text")
                    .evaluate_all("(all) => all.map((t) => t.getBoundingClientRect().height)")
                )
                assert min(sizes) > 9, "labels must be readable"
    assert charts > 10


def test_reason_follows_its_row_when_sorting_and_filtering(page: Any, site: Path) -> None:
    page.goto((site / "papers.html").as_uri())
    script = """() => [...document.querySelectorAll(".grid tbody tr.below")].filter((row) => !row.hidden).map(
      (row) => [row.previousElementSibling.cells[2].textContent, row.textContent])"""
    pairs = page.evaluate(script)
    result = [(mean, reason) for mean, reason in pairs if "ours" in reason]
    assert len(pairs) > 4
    assert result
    assert all(f"ours {mean} " in reason for mean, reason in result)
    page.locator(".grid").first.get_by_role("button", name="Ours", exact=True).click()
    ordered = page.evaluate(script)
    assert [mean for mean, _ in ordered] == sorted((mean for mean, _ in pairs), key=_mean, reverse=True)
    assert sorted(ordered) == sorted(pairs)
    page.get_by_label("Filter the table by words").fill(pairs[0][0])
    assert page.evaluate(script) == [pair for pair in ordered if pair[0] == pairs[0][0]]


def _mean(text: str) -> float:
    return float(text.partition("±")[0])


def test_columns_are_sorted_by_mouse_and_keyboard(page: Any, site: Path) -> None:
    page.goto((site / "datasets" / "csl.html").as_uri())
    means = lambda: [_mean(text) for text in column(page, "Test")]  # noqa: E731
    button = page.locator(".grid").first.get_by_role("button", name="Test", exact=True)
    button.click()
    assert means() == sorted(means(), reverse=True)
    button.focus()
    page.keyboard.press("Enter")
    assert means() == sorted(means())
    assert page.locator(".grid th[aria-sort=ascending]").first.text_content() == "Test"
    page.locator(".grid").first.get_by_role("button", name="Model", exact=True).click()
    assert column(page, "Model") == sorted(column(page, "Model"), key=str.casefold)
    page.locator(".grid").first.get_by_role("button", name="Published", exact=True).click()
    published = column(page, "Published")
    assert "" not in published[: len([text for text in published if text])], "cells without a number come last"


def test_tables_are_filtered_by_text(page: Any, site: Path) -> None:
    page.goto((site / "datasets" / "csl.html").as_uri())
    everything = len(column(page, "Model"))
    page.get_by_label("Filter the table by words").first.fill("LAPLACIAN gcn")
    assert set(column(page, "Model")) == {"GCN", "GatedGCN"}
    assert set(column(page, "Encoding")) == {"Laplacian 20, absolute sign"}
    assert page.locator(".grid .count").first.text_content() == f"2 of {everything} rows"
    page.get_by_label("Filter the table by words").first.fill("")
    assert len(column(page, "Model")) == everything


def test_theme_switch_is_persistent_and_readable(page: Any, site: Path) -> None:
    colour = lambda: page.evaluate("getComputedStyle(document.body).backgroundColor")  # noqa: E731
    page.goto((site / "index.html").as_uri())
    light = colour()
    page.emulate_media(color_scheme="dark")
    dark = colour()
    assert dark != light
    button = page.locator("#theme")
    assert button.text_content() == "Theme: auto"
    button.click()
    assert (button.text_content(), colour()) == ("Theme: light", light)
    page.emulate_media(color_scheme="light")
    button.click()
    assert (button.text_content(), colour()) == ("Theme: dark", dark)
    page.goto((site / "datasets" / "csl.html").as_uri())
    assert colour() == dark
    for theme in ("dark", "light"):
        pages = ("datasets/csl.html", "index.html", "papers.html", "papers/bgnn-v5-table-10.html")
        for file in (site / name for name in pages):
            page.goto(file.as_uri())
            page.evaluate("(theme) => { document.documentElement.dataset.theme = theme; }", theme)
            weak = {name: round(ratio, 2) for name, ratio in page.evaluate(CONTRAST).items() if ratio < 4.5}
            assert weak == {}, (theme, file.name)


def test_chart_values_are_accessible(page: Any, site: Path) -> None:
    page.goto((site / "datasets" / "csl.html").as_uri())
    figure = page.locator("figure.chart", has_text="Learning curves")
    drawing, tip = figure.locator(".plot svg"), figure.locator(".tip")
    assert tip.is_hidden()
    drawing.scroll_into_view_if_needed()
    box = drawing.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert re.search(r"epoch \d+validation loss [\d.]+", tip.text_content().replace("\n", ""))
    page.mouse.move(0, 0)
    assert tip.is_hidden()
    drawing.focus()
    page.keyboard.press("ArrowRight")
    first = tip.text_content()
    page.keyboard.press("ArrowRight")
    assert "epoch 2" in tip.text_content()
    page.keyboard.press("ArrowDown")
    assert tip.text_content().partition("epoch")[0] != first.partition("epoch")[0]
    page.keyboard.press("Escape")
    assert tip.is_hidden()
    lines = figure.locator("polyline.line")
    before = lines.count()
    figure.locator(".legend button").first.click()
    assert lines.count() == before - 1
    assert figure.locator(".legend button").first.get_attribute("aria-pressed") == "false"
    figure.locator("select").select_option(label="validation accuracy")
    assert lines.count() == before - 1, "views of the same lines share which of them are shown"
    figure.locator(".legend button").first.click()
    assert lines.count() == before
    figure.locator("summary").click()
    figure.locator("details th").first.wait_for()  # a browser tells of the opening some time after the click
    assert figure.locator("details th").count() == before + 1
    assert figure.locator("details tbody tr").count() >= 30


def test_at_most_eight_curves_are_drawn_and_others_selectable(page: Any, crowd: Path) -> None:
    page.goto(next((crowd / "rows").glob("*.html")).as_uri())
    figure = page.locator("figure.chart", has_text="Learning curves")
    lines, buttons, message = figure.locator("polyline.line"), figure.locator(".legend button"), figure.locator(".said")
    pressed = figure.locator(".legend button[aria-pressed=true]")
    colours = lambda: {one.get_attribute("class") for one in lines.all()}  # noqa: E731
    assert (lines.count(), pressed.count()) == (8, 8)
    assert buttons.count() == 20 + 1
    assert len(colours()) == 8
    assert "8 of 20 lines" in message.text_content()
    name = buttons.nth(12).text_content()
    buttons.nth(12).focus()
    page.keyboard.press("Enter")
    assert (lines.count(), len(colours())) == (8, 8), "the ninth takes the place of the first"
    assert buttons.nth(12).get_attribute("aria-pressed") == "true"
    assert buttons.nth(0).get_attribute("aria-pressed") == "false"
    assert f"{name} replaces" in message.text_content()
    assert page.evaluate("document.activeElement.textContent") == name, "the focus stays where it was"
    page.keyboard.press("Space")
    assert (lines.count(), pressed.count()) == (7, 7)
    figure.get_by_role("button", name="Next 8").click()
    shown = [button.text_content() for button in pressed.all()]
    assert (lines.count(), len(shown)) == (8, 8)
    assert buttons.nth(8).text_content() in shown
    for _ in range(8):
        pressed.first.click()
    assert lines.count() == 0
    assert figure.locator(".plot svg text").count() > 4, "axes without a line are no error"


def test_diverged_curve_leaves_axes_readable(page: Any, crowd: Path) -> None:
    page.goto(next((crowd / "rows").glob("*.html")).as_uri())
    figure = page.locator("figure.chart", has_text="Learning curves")
    boxes = """(all) => all.map((t) => t.getBoundingClientRect()).map((b) => [b.left, b.right, b.top, b.bottom])"""
    for size in (DESK, PHONE):
        page.set_viewport_size(size)
        places = figure.locator(".plot svg text").evaluate_all(boxes)
        for i, (left, right, top, bottom) in enumerate(places):
            for left2, right2, top2, bottom2 in places[:i]:
                apart = right <= left2 or right2 <= left or bottom <= top2 + 3 or bottom2 <= top + 3
                assert apart, "labels of an axis must not overlap"
    message = figure.locator(".said").text_content()
    assert "Clipped at" in message
    assert re.search("go up to .*10¹⁸", message)
    figure.locator("select").select_option(label="validation accuracy")
    assert "Clipped" not in figure.locator(".said").text_content()


@pytest.mark.parametrize("name", ["datasets/csl.html", "papers/bgnn-v5-table-10.html"])
def test_first_column_and_verdict_are_sticky(page: Any, site: Path, name: str) -> None:
    page.set_viewport_size({"width": 760, "height": 800})
    page.goto((site / name).as_uri())
    scroll = page.locator(".grid .scroll").first
    hint = page.locator(".grid .hint").first
    assert hint.is_visible()
    look = """(scroll) => {
      const box = scroll.getBoundingClientRect();
      const row = [...scroll.querySelector("tbody").rows].find((row) => row.cells.length > 4);
      return ["td:first-child", "td.keep"].map((one) => row.querySelector(one)).map((cell) => {
        if (!cell) return null;
        const { left, right } = cell.getBoundingClientRect();
        const at = document.elementFromPoint((left + right) / 2, cell.getBoundingClientRect().top + 8);
        return left >= box.left - 1 && right <= box.right + 1 && cell.contains(at);
      });
    }"""
    scroll.scroll_into_view_if_needed()
    for left in (0, 150, 10_000):
        scroll.evaluate("(scroll, left) => { scroll.scrollLeft = left; }", left)
        assert scroll.evaluate(look) in ([True, True], [True, None]), left
    assert scroll.evaluate("(s) => s.scrollLeft + s.clientWidth >= s.scrollWidth - 1"), "the last column is reached"


def test_dataset_tables_fit_a_laptop_screen(page: Any, site: Path) -> None:
    for name in ("datasets/csl.html", "papers.html", "papers/bgnn-v5-table-3.html", "papers/bgnn-v5-table-8.html"):
        page.goto((site / name).as_uri())
        for scroll in page.locator(".grid .scroll").all():
            wide = scroll.evaluate("(s) => [s.scrollWidth, s.clientWidth]")
            assert wide[0] <= wide[1], (name, wide)


def test_missing_cell_shows_its_command(page: Any, site: Path) -> None:
    page.goto((site / "papers" / "bgnn-v5-table-3.html").as_uri())
    assert page.get_by_text("not run", exact=True).first.is_visible()
    assert page.get_by_text("graphtrial run zinc mlp").first.is_hidden()
    page.get_by_text("How to run it").first.click()
    assert page.get_by_text("graphtrial run zinc mlp").first.is_visible()
    page.goto((site / "papers" / "bgnn-v5-table-10.html").as_uri())
    assert page.locator(".ours a").count() > 0
    page.locator(".ours a").first.click()
    assert "/rows/row-" in page.url


def test_models_are_ranked_over_datasets(page: Any, site: Path) -> None:
    page.goto((site / "compare.html").as_uri())
    figure = page.locator("figure.chart", has_text="Critical differences")
    assert figure.locator(".plot text.name").count() == 8
    assert "critical difference" in figure.locator(".plot svg").text_content()
    figure.locator(".plot svg").focus()
    page.keyboard.press("ArrowRight")
    assert "mean rank 4.5" in figure.locator(".tip").text_content()


def test_controls_are_reachable_by_keyboard(page: Any, site: Path) -> None:
    page.goto((site / "datasets" / "csl.html").as_uri())
    reached = set()
    for _ in range(150):
        page.keyboard.press("Tab")
        reached.add(page.evaluate(FOCUSED))
    expected = {
        "a",
        "button#theme",
        "input search",
        "head button",
        "div",
        "chart svg",
        "chart button",
        "chart summary",
        "chart select",
    }
    assert expected <= reached


def test_content_security_policy_blocks_network_access(browser: Any, site: Path) -> None:
    context = browser.new_context()
    page = context.new_page()
    answered: list[str] = []
    page.on("response", lambda response: answered.append(response.url))
    page.goto((site / "index.html").as_uri())
    refused = page.evaluate(
        """() => new Promise((done) => {
          const seen = [];
          document.addEventListener("securitypolicyviolation", (event) => seen.push(event.effectiveDirective));
          const image = new Image();
          image.src = "https://example.com/x.png";
          const script = document.createElement("script");
          script.textContent = "window.reached = true";
          document.body.append(image, script);
          fetch("https://example.com").catch(() => {});
          setTimeout(() => done([seen, window.reached === true]), 300);
        })"""
    )
    assert {"img-src", "connect-src"} <= set(refused[0])
    assert not refused[1]
    assert answered
    assert all(url.startswith("file://") for url in answered)
    context.close()


def test_copy_button_copies_the_command_and_pages_work_without_javascript(browser: Any, site: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "datasets" / "csl.html").as_uri())
    assert page.locator("#theme").is_hidden()
    assert page.get_by_text("GatedGCN").first.is_visible()
    assert EVIL not in page.content()
    context.close()
    context = browser.new_context(permissions=[])
    page = context.new_page()
    page.goto(sorted((site / "trials").glob("*.html"))[0].as_uri())
    page.locator(".command button").first.click()
    page.wait_for_function("document.querySelector('.command button').textContent !== 'Copy'")
    context.close()


def test_pages_print_light_and_whole(page: Any, site: Path) -> None:
    page.goto((site / "datasets" / "csl.html").as_uri())
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    ink = page.evaluate("getComputedStyle(document.querySelector('td')).color").removeprefix("rgb(").removesuffix(")")
    assert max(map(int, ink.split(","))) < 60
    for control in (".top", ".tools", ".anchor", ".legend"):
        assert page.locator(control).count()
        assert not page.locator(control).first.is_visible(), control
    scroll = page.evaluate("getComputedStyle(document.querySelector('.scroll')).overflowX")
    assert scroll == "visible"
    boxes = page.locator("thead th button").evaluate_all("(all) => all.map((one) => getComputedStyle(one).display)")
    assert set(boxes) == {"contents"}, "boxes are not painted in headings repeated on the next sheet"


def test_address_of_a_row_marks_it(page: Any, site: Path) -> None:
    page.goto((site / "datasets" / "csl.html").as_uri())
    link = page.locator("a.anchor").nth(2)
    address = link.get_attribute("href")
    plain = page.locator(f"tr{address} > td").first.evaluate("(cell) => getComputedStyle(cell).backgroundColor")
    link.click()
    page.mouse.move(0, 0)
    assert page.url.endswith(address)
    marked = page.locator("tr:target > td")
    assert marked.count() > 5
    colours = set(marked.evaluate_all("(cells) => cells.map((cell) => getComputedStyle(cell).backgroundColor)"))
    assert len(colours) == 1
    assert colours != {plain}
    assert address.removeprefix("#") not in column(page, "Model"), "the sign is no part of the text"
