"""Table cells as HTML, without a template for speed; every text is escaped here."""

from __future__ import annotations

from markupsafe import Markup, escape

from graphtrial.report.grid import Cell, GridColumn


def cell_html(cell: Cell, column: GridColumn, under: str = "") -> Markup:
    """Return a cell as HTML; `under` is its second line."""
    style = " ".join(filter(None, ["n" if column.number else "", cell.mark, "keep" if column.keep else ""]))
    key = f"{cell.sort:.7g}" if isinstance(cell.sort, float) else cell.sort
    by = key if cell.badges or under or str(key) != cell.text else None
    attributes = _attribute("class", style) + _attribute("data-sort", by) + _attribute("title", cell.hint)
    below = f"<small>{escape(under)}</small>" if under else ""
    return Markup(f"<td{attributes}>{_text(cell, under)}{_anchor(cell)}{badges_html(cell.badges)}{below}</td>")


def badges_html(badges: tuple[tuple[str, str], ...]) -> Markup:
    """Return badges as HTML."""
    return Markup("".join(f' <span class="badge" title="{escape(why)}">{escape(name)}</span>' for name, why in badges))


def _text(cell: Cell, under: str) -> str:
    text = escape(cell.text)
    if cell.pill:
        return f'<span class="verdict {escape(cell.pill)}">{text}</span>'
    if cell.href:
        return f'<a href="{escape(cell.href)}">{text}</a>'
    return f"<span>{text}</span>" if under else text


def _anchor(cell: Cell) -> str:
    """Return a link to the line itself; its sign is drawn by the style sheet, so that it is no part of the text."""
    return f'<a class="anchor" href="#{escape(cell.anchor)}" aria-label="Link to this row"></a>' if cell.anchor else ""


def _attribute(name: str, value: object) -> str:
    return "" if value is None or value == "" else f' {name}="{escape(value)}"'
