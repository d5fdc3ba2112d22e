"""The tables of MediaWiki: both schemas, and the sample dumps against a reading by regular expressions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.wikipedia.slow import sql_rows

from graphtrial.core.errors import CorruptFileError
from graphtrial.wikipedia.dumps.parquet import library
from graphtrial.wikipedia.dumps.tables import read_dump


def fast_rows(path: Path, table: str, folder: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    report = read_dump(path, table, folder)
    return library("pyarrow.parquet").read_table(folder / f"{table}.parquet").to_pylist(), report


@pytest.mark.slow
@pytest.mark.parametrize(
    "file",
    [
        "vjain143__my_wiki_page.sql",
        "magictowers__testBasicWikipedia.sql",
        "magictowers__test_PathsCleaner_smallwikipediadump.sql",
    ],
)
def test_pages_of_the_sample_dumps_match_a_naive_parser(mirror: Path, tmp_path: Path, file: str) -> None:
    path = mirror / "wiki_samples" / file
    slow = sql_rows(path, "page")
    actual, report = fast_rows(path, "page", tmp_path)
    assert actual == [
        {
            "id": int(row["page_id"]),
            "namespace": int(row["page_namespace"]),
            "title": row["page_title"],
            "redirect": int(row["page_is_redirect"]),
        }
        for row in slow
        if row["page_namespace"] in ("0", "14")
    ]
    assert report["rows"] == len(slow)
    assert report["kept"] == len(actual)
    assert report["broken"] == 0


@pytest.mark.parametrize("file", ["vjain143__my_wiki_pagelinks.sql", "magictowers__testBasicWikipedia.sql"])
def test_links_of_the_sample_dumps_match_a_naive_parser(mirror: Path, tmp_path: Path, file: str) -> None:
    path = mirror / "wiki_samples" / file
    actual, _ = fast_rows(path, "pagelinks", tmp_path)
    expected = [
        (int(row["pl_from"]), row["pl_title"]) for row in sql_rows(path, "pagelinks") if row["pl_namespace"] == "0"
    ]
    assert [(row["source"], row["title"]) for row in actual] == expected


@pytest.mark.parametrize("file", ["vjain143__my_wiki_categorylinks.sql", "magictowers__testBasicWikipedia.sql"])
def test_categories_of_the_sample_dumps_match_a_naive_parser(mirror: Path, tmp_path: Path, file: str) -> None:
    path = mirror / "wiki_samples" / file
    actual, _ = fast_rows(path, "categorylinks", tmp_path)
    slow = sql_rows(path, "categorylinks")
    assert [(row["source"], row["title"]) for row in actual] == [
        (int(row["cl_from"]), row["cl_to"]) for row in slow if row["cl_type"] != "file"
    ]


def dump(path: Path, table: str, columns: list[str], rows: str) -> Path:
    lines = ",\n".join(f"  `{column}` varbinary(255)" for column in columns)
    insert = f"INSERT INTO `{table}` VALUES {rows};\n" if rows else ""
    path.write_text(f"CREATE TABLE `{table}` (\n{lines},\n  KEY `k` (`x`)\n) ENGINE=x;\n{insert}")
    return path


def test_new_schema_links_are_joined_with_linktarget(tmp_path: Path) -> None:
    path = dump(
        tmp_path / "l.sql", "pagelinks", ["pl_from", "pl_from_namespace", "pl_target_id"], "(1,0,7),(2,1,7),(3,0,8)"
    )
    actual, report = fast_rows(path, "pagelinks", tmp_path)
    assert actual == [{"source": 1, "target": 7}, {"source": 3, "target": 8}]
    assert report["columns"] == ["source", "target"]


def test_titles_are_preferred_while_a_dump_has_both(tmp_path: Path) -> None:
    columns = ["pl_from", "pl_namespace", "pl_title", "pl_from_namespace", "pl_target_id"]
    path = dump(tmp_path / "l.sql", "pagelinks", columns, "(1,0,'A',0,NULL),(2,4,'B',0,3),(2,0,'C',0,3)")
    assert [row["title"] for row in fast_rows(path, "pagelinks", tmp_path)[0]] == ["A", "C"]


def test_new_schema_categories_are_joined_with_linktarget(tmp_path: Path) -> None:
    columns = ["cl_from", "cl_sortkey", "cl_type", "cl_target_id"]
    path = dump(tmp_path / "c.sql", "categorylinks", columns, "(1,'x','page',7),(2,'x','file',7),(3,'x','subcat',9)")
    actual, _ = fast_rows(path, "categorylinks", tmp_path)
    assert actual == [{"source": 1, "target": 7}, {"source": 3, "target": 9}]


def test_redirects_to_other_wikis_and_namespaces_are_left_out(tmp_path: Path) -> None:
    columns = ["rd_from", "rd_namespace", "rd_title", "rd_interwiki", "rd_fragment"]
    rows = "(1,0,'A','',''),(2,4,'B','',''),(3,0,'C',NULL,NULL),(4,0,'D','de','')"
    actual, _ = fast_rows(dump(tmp_path / "r.sql", "redirect", columns, rows), "redirect", tmp_path)
    assert [(row["source"], row["title"]) for row in actual] == [(1, "A"), (3, "C")]


@pytest.mark.parametrize("before", [["page_restrictions", "page_counter"], ["page_restrictions"], []])
def test_columns_of_page_are_selected_by_name(tmp_path: Path, before: list[str]) -> None:
    columns = ["page_id", "page_namespace", "page_title", *before, "page_is_redirect", "page_len"]
    rows = "(1,0,'A'," + "'9'," * len(before) + "1,5)"
    actual, _ = fast_rows(dump(tmp_path / "p.sql", "page", columns, rows), "page", tmp_path)
    assert actual == [{"id": 1, "namespace": 0, "title": "A", "redirect": 1}]


def test_empty_table_is_valid_and_missing_table_raises(tmp_path: Path) -> None:
    path = dump(tmp_path / "r.sql", "redirect", ["rd_from", "rd_namespace", "rd_title"], "")
    assert fast_rows(path, "redirect", tmp_path)[0] == []
    with pytest.raises(CorruptFileError, match="no rows of the table page; it has redirect"):
        read_dump(path, "page", tmp_path)


def test_unknown_schema_raises(tmp_path: Path) -> None:
    with pytest.raises(CorruptFileError, match="schema of pagelinks that is not known: pl_from, pl_thing"):
        read_dump(dump(tmp_path / "l.sql", "pagelinks", ["pl_from", "pl_thing"], "(1,2)"), "pagelinks", tmp_path)
    path = dump(tmp_path / "p.sql", "page", ["page_id", "page_namespace", "page_title"], "(1,0,'A')")
    with pytest.raises(CorruptFileError, match="no column page_is_redirect"):
        read_dump(path, "page", tmp_path)
