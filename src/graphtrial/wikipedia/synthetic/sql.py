"""SQL dumps of a synthetic wiki."""

from __future__ import annotations

import gzip
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from graphtrial.wikipedia.synthetic.wiki import (
    Wiki,
    category_name,
    chunks,
    parent_of_category,
    target_of_redirect,
    title_of,
)


class _Table:
    """Streaming writer of the SQL dump of one table."""

    def __init__(self, folder: Path, name: str, columns: list[str]) -> None:
        self.name = name
        # No name and time in the gzip header, so that the bytes are reproducible.
        self.raw = (folder / f"synthetic-{name}.sql.gz").open("wb")
        self.file = gzip.GzipFile("", "wb", 6, self.raw, 0)
        lines = "".join(f"  `{column}` varbinary(255),\n" for column in columns)
        self.file.write(f"CREATE TABLE `{name}` (\n{lines}  PRIMARY KEY (`{columns[0]}`)\n) ENGINE=InnoDB;\n".encode())
        self.rows: list[str] = []

    def __enter__(self) -> _Table:
        return self

    def __exit__(self, *error: Any) -> None:
        self._write()
        self.file.close()
        self.raw.close()

    def add(self, row: str) -> None:
        self.rows.append(row)
        if len(self.rows) == 10_000:
            self._write()

    def _write(self) -> None:
        if self.rows:
            self.file.write(f"INSERT INTO `{self.name}` VALUES {','.join(self.rows)};\n".encode())
            self.rows.clear()


def _quoted(title: str) -> str:
    text = title.replace(" ", "_").replace("\\", "\\\\").replace("'", "\\'").replace('"', '\\"')
    return f"'{text}'"


def write_tables(wiki: Wiki, folder: Path) -> None:
    """Write page, redirect, pagelinks, categorylinks and, in the new schema, linktarget."""
    pages, first_category = wiki.articles + wiki.redirects, wiki.articles + wiki.redirects + 1
    restrictions = [] if wiki.modern else ["page_restrictions"]
    blank = "" if wiki.modern else "'',"
    link = ["pl_from", "pl_from_namespace", "pl_target_id"]
    inside = ["cl_from", "cl_sortkey", "cl_type", "cl_target_id"]
    if not wiki.modern:
        link, inside = ["pl_from", "pl_namespace", "pl_title", "pl_from_namespace"], ["cl_from", "cl_to", "cl_type"]
    with ExitStack() as stack:

        def table(name: str, columns: list[str]) -> _Table:
            return stack.enter_context(_Table(folder, name, columns))

        page = table("page", ["page_id", "page_namespace", "page_title", *restrictions, "page_is_redirect", "page_len"])
        for number in range(pages):
            title = _quoted(title_of(wiki, number))
            page.add(f"({number + 1},0,{title},{blank}{int(number >= wiki.articles)},1)")
        for category in range(wiki.categories):
            page.add(f"({first_category + category},14,{_quoted(category_name(wiki, category))},{blank}0,1)")
        redirect = table("redirect", ["rd_from", "rd_namespace", "rd_title", "rd_interwiki", "rd_fragment"])
        for number in range(wiki.redirects):
            target = _quoted(title_of(wiki, target_of_redirect(wiki, number)))
            redirect.add(f"({wiki.articles + number + 1},0,{target},'',NULL)")
        if wiki.modern:
            target_table = table("linktarget", ["lt_id", "lt_namespace", "lt_title"])
            for number in range(pages):
                target_table.add(f"({number + 1},0,{_quoted(title_of(wiki, number))})")
            for category in range(wiki.categories):
                target_table.add(f"({first_category + category},14,{_quoted(category_name(wiki, category))})")
        links, members = table("pagelinks", link), table("categorylinks", inside)
        for chunk in chunks(wiki):
            for row in range(len(chunk.words)):
                source = chunk.first + row + 1
                for target in dict.fromkeys(chunk.linked[row].tolist()):
                    named = f"0,{_quoted(title_of(wiki, target))}"
                    links.add(f"({source},0,{target + 1})" if wiki.modern else f"({source},{named},0)")
                for category in dict.fromkeys(chunk.categories[row].tolist()):
                    _add_member(wiki, members, source, category, "page")
        for category in range(1, wiki.categories):
            _add_member(wiki, members, first_category + category, parent_of_category(wiki, category), "subcat")


def _add_member(wiki: Wiki, members: _Table, source: int, category: int, kind: str) -> None:
    if wiki.modern:
        members.add(f"({source},'X','{kind}',{wiki.articles + wiki.redirects + 1 + category})")
    else:
        members.add(f"({source},{_quoted(category_name(wiki, category))},'{kind}')")
