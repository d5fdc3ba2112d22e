"""Graph stage: nodes, and edges between them with redirects resolved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphtrial.core.errors import GraphTrialError
from graphtrial.wikipedia.dumps.parquet import engine, quoted, save
from graphtrial.wikipedia.dumps.tables import ARTICLE
from graphtrial.wikipedia.stages import StageCache, StageResult


@dataclass(frozen=True)
class Relations:
    """SQL queries of three relations over articles: page (id, title, redirect), redirect and link (source, title)."""

    page: str
    redirect: str
    link: str


def of_tables(tables: dict[str, StageResult]) -> tuple[Relations, list[StageResult]]:
    """Return the relations of the SQL dumps, with their stages."""
    needed = ["page", "redirect", "pagelinks"]
    if "pagelinks" in tables and "target" in tables["pagelinks"].report["columns"]:
        needed.append("linktarget")
    missing = [name for name in needed if name not in tables]
    if missing:
        raise GraphTrialError(
            f"links of the tables need the SQL dump of {' and '.join(missing)}; "
            "--links text takes links from the articles themselves"
        )
    file = {name: quoted(tables[name].folder / f"{name}.parquet") for name in needed}
    link = f"SELECT source, title FROM {file['pagelinks']}"
    if "linktarget" in needed:
        link = (
            f"SELECT l.source, t.title FROM {file['pagelinks']} l SEMI JOIN labelled n ON n.id = l.source "
            f"JOIN {file['linktarget']} t ON t.id = l.target WHERE t.namespace = {ARTICLE}"
        )
    page = f"SELECT id, title, redirect = 1 AS redirect FROM {file['page']} WHERE namespace = {ARTICLE}"
    relations = Relations(page, f"SELECT source, title FROM {file['redirect']}", link)
    return relations, [tables[name] for name in needed]


def of_texts(articles: Sequence[StageResult], words: StageResult) -> tuple[Relations, list[StageResult]]:
    """Return the relations of the XML dump alone, with their stages."""
    parts = " UNION ALL ".join(f"SELECT * FROM {quoted(result.folder / 'pages.parquet')}" for result in articles)
    pages = f"(SELECT * FROM ({parts}) WHERE namespace = {ARTICLE})"
    return (
        Relations(
            f"SELECT id, title, redirect IS NOT NULL AS redirect FROM {pages}",
            f"SELECT id AS source, redirect AS title FROM {pages} WHERE redirect IS NOT NULL",
            f"SELECT id AS source, unnest(links) AS title FROM {quoted(words.folder / 'texts.parquet')}",
        ),
        [*articles, words],
    )


def links(
    stages: StageCache,
    labelled: StageResult,
    words: StageResult,
    relations: Relations,
    holders: Sequence[StageResult],
    memory_gb: float,
) -> StageResult:
    """Build `nodes.parquet` (id, title, class), sorted by id, and `links.parquet` (source, target: node indices)."""
    return stages.stage(
        "links",
        {},
        [labelled, words, *holders],
        lambda folder: _make(labelled.folder, words.folder, folder, relations, memory_gb),
    )


def _make(labelled: Path, words: Path, folder: Path, relations: Relations, memory_gb: float) -> dict[str, Any]:
    """Join links with nodes by title, resolving one level of redirects.

    A redirect to a redirect is not followed. Parallel edges and self-loops are preserved, as in Wiki-CS. Edges are
    sorted by source and linked page.
    """
    with engine(folder, memory_gb) as sql:
        sql.execute(f"CREATE TABLE labelled AS SELECT * FROM {quoted(labelled / 'labels.parquet')}")
        sql.execute(f"CREATE VIEW page AS {relations.page}")
        sql.execute(
            "CREATE TABLE node AS SELECT row_number() OVER (ORDER BY n.id) - 1 AS row, n.id, n.title, n.class "
            f"FROM labelled n SEMI JOIN {quoted(words / 'texts.parquet')} w ON w.id = n.id "
            "SEMI JOIN page p ON p.id = n.id"
        )
        nodes = save(sql, "SELECT id, title, class FROM node ORDER BY row", folder / "nodes.parquet")
        if not nodes:
            raise GraphTrialError(
                "no labelled article has text and a row in the table of pages; are the dumps of one wiki and one day?"
            )
        sql.execute(
            "CREATE TABLE named AS SELECT n.row AS source, l.title "
            f"FROM ({relations.link}) l JOIN node n ON n.id = l.source"
        )
        sql.execute(
            "CREATE TABLE hit AS SELECT l.source, p.id AS page, p.redirect "
            "FROM named l JOIN page p ON p.title = l.title"
        )
        sql.execute(
            f"CREATE TABLE led AS SELECT r.source, q.id AS target FROM ({relations.redirect}) r "
            "SEMI JOIN (SELECT page FROM hit WHERE redirect) h ON h.page = r.source "
            "JOIN page q ON q.title = r.title WHERE NOT q.redirect"
        )
        sql.execute(
            "CREATE TABLE reached AS SELECT l.source, l.page, l.redirect, "
            "CASE WHEN l.redirect THEN r.target ELSE l.page END AS target "
            "FROM hit l LEFT JOIN led r ON r.source = l.page"
        )
        count = save(
            sql,
            "SELECT l.source, n.row AS target FROM reached l JOIN node n ON n.id = l.target "
            "ORDER BY l.source, l.page, n.row",
            folder / "links.parquet",
        )
        named, reached, by_redirect, self_links = (
            sql.execute(query).fetchone()[0]
            for query in (
                "SELECT count(*) FROM named",
                "SELECT count(*) FROM reached WHERE target IS NOT NULL",
                "SELECT count(*) FROM reached l SEMI JOIN node n ON n.id = l.target WHERE redirect",
                f"SELECT count(*) FROM {quoted(folder / 'links.parquet')} WHERE source = target",
            )
        )
    return {
        "nodes": nodes,
        "links": count,
        "links by redirect": by_redirect,
        "self-links": self_links,
        "links of nodes to anything": named,
        "of these to articles there are": reached,
    }
