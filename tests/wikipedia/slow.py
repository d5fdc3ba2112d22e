"""Naive reference implementation of the pipeline: dictionaries, lists and loops; only tokenization is shared.

Reads dumps by the standard library and regular expressions; only the division of a text into words is shared.
"""

from __future__ import annotations

import bz2
import gzip
import random
import re
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import networkx as nx

Row = list[str]
_VALUE = re.compile(r"'((?:[^'\\]|\\.|'')*)'|([^,()]+)")
_ROW = re.compile(r"\(((?:'(?:[^'\\]|\\.|'')*'|[^()'])*)\)")


def sql_rows(path: Path, table: str) -> list[dict[str, str]]:
    """Return the rows of a table of a dump."""
    text = (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode()
    create = re.search(rf"CREATE TABLE `{table}` \((.*?)\n\)", text, re.DOTALL)
    assert create is not None
    names = re.findall(r"^\s+`(\w+)` ", create[1], re.MULTILINE)
    rows = []
    for line in text.splitlines():
        if line.startswith(f"INSERT INTO `{table}` VALUES "):
            for row in _ROW.findall(line.partition(" VALUES ")[2]):
                values = [re.sub(r"\\(.)", r"\1", quoted) or plain for quoted, plain in _VALUE.findall(row)]
                rows.append(dict(zip(names, values, strict=True)))
    return rows


def xml_pages(path: Path) -> list[dict[str, Any]]:
    """Return the pages of an XML dump."""
    text = (bz2.decompress(path.read_bytes()) if path.suffix == ".bz2" else path.read_bytes()).decode()
    root = ElementTree.fromstring(re.sub(r' xmlns="[^"]*"', "", text, count=1))
    pages = []
    for page in root.iter("page"):
        redirect = page.find("redirect")
        pages.append(
            {
                "id": int(page.findtext("id", "")),
                "ns": int(page.findtext("ns", "")),
                "title": page.findtext("title", ""),
                "redirect": None if redirect is None else redirect.get("title"),
                "text": page.findtext("revision/text", ""),
            }
        )
    return pages


def categories_of(text: str) -> list[str]:
    """Return the categories of a wikitext."""
    actual = (name.split("|")[0].strip() for name in re.findall(r"\[\[Category:([^\]]*)\]\]", text))
    return list(dict.fromkeys(name for name in actual if name))


def labelled(pages: list[dict[str, Any]], mapping: dict[str, list[str]], milestones: int) -> dict[int, str]:
    """Return the class of each article that has exactly one."""
    number: dict[str, int] = {}
    graph = nx.DiGraph()
    for page in pages:
        if page["ns"] in (0, 14):
            names = categories_of(page["text"])
            if page["ns"] == 14:
                child = page["title"].partition(":")[2]
                number.setdefault(child, len(number))
                graph.add_node(child)
                graph.add_edges_from((child, parent) for parent in names if parent != child)
            for name in names:
                number.setdefault(name, len(number))
                graph.add_node(name)
    score = nx.harmonic_centrality(graph)
    excluded = ("wiki", "categories", "main topic classifications", "template", "navigational box")
    allowed = [name for name in number if not any(part in name.lower() for part in excluded)]
    allowed.sort(key=lambda name: (-score[name], number[name]))
    chosen = set(allowed[:milestones])
    nearest = _nearest(graph, chosen, number)
    actual = {}
    for page in pages:
        if page["ns"] == 0 and page["redirect"] is None:
            mine = {nearest[name] for name in categories_of(page["text"]) if name in nearest}
            classes = [name for name, parts in mapping.items() if mine & set(parts)]
            if len(classes) == 1:
                actual[page["id"]] = classes[0]
    return actual


def _nearest(graph: nx.DiGraph, chosen: set[str], number: dict[str, int]) -> dict[str, str]:
    pruned = ("msx", "x86 operating systems", "ship registration", "browsers", "cloud applications")
    pruned += ("cloud computing providers",)  # type: ignore[assignment]
    queue = deque(sorted(chosen, key=number.__getitem__))
    nearest: dict[str, str] = {}
    while queue:
        name = queue.popleft()
        for child in sorted(graph.predecessors(name), key=number.__getitem__):
            if child not in nearest and not any(part in child.lower() for part in pruned):
                nearest[child] = name if name in chosen else nearest[name]
                if child not in chosen:
                    queue.append(child)
    return {**nearest, **{name: name for name in chosen}}


def links_of_tables(folder: Path, nodes: set[int]) -> dict[int, list[int]]:
    """Return the links of each node to nodes, by page, redirect, pagelinks and perhaps linktarget."""

    def rows(table: str) -> list[dict[str, str]]:
        return sql_rows(folder / f"synthetic-{table}.sql.gz", table)

    pages = {int(row["page_id"]): row for row in rows("page") if row["page_namespace"] == "0"}
    by_title = {row["page_title"]: number for number, row in pages.items()}
    leads = {}
    for row in rows("redirect"):
        target = by_title.get(row["rd_title"])
        if target is not None and pages[target]["page_is_redirect"] == "0":
            leads[int(row["rd_from"])] = target
    links = rows("pagelinks")
    if "pl_title" not in links[0]:
        titles = {row["lt_id"]: row["lt_title"] for row in rows("linktarget") if row["lt_namespace"] == "0"}
        for row in links:
            row["pl_title"] = titles[row["pl_target_id"]]
    actual: dict[int, list[tuple[int, int]]] = {node: [] for node in nodes}
    for row in links:
        source, named = int(row["pl_from"]), by_title.get(row["pl_title"])
        if source in nodes and named is not None:
            target = leads.get(named) if pages[named]["page_is_redirect"] == "1" else named
            if target in nodes:
                actual[source].append((named, target))  # type: ignore[arg-type]
    return {node: [target for _, target in sorted(pairs)] for node, pairs in actual.items()}


def links_of_texts(pages: list[dict[str, Any]], nodes: set[int]) -> dict[int, list[int]]:
    """Return the links of each node to nodes by what stands in double brackets."""
    by_title = {page["title"]: page for page in pages if page["ns"] == 0}
    actual: dict[int, list[int]] = {}
    for page in pages:
        if page["id"] in nodes:
            text = re.sub(r"<!--.*?-->|<nowiki>.*?</nowiki>", "", page["text"], flags=re.DOTALL)
            reached = {}
            for title in re.findall(r"\[\[([^\[\]{}|<>\n]+)(?:\||\]\])", text):
                words = title.split("#")[0].replace("_", " ").split()
                name = " ".join(words)
                named = by_title.get(name[:1].upper() + name[1:])
                target = by_title.get(named["redirect"]) if named and named["redirect"] else named
                if named and target and target["redirect"] is None and target["id"] in nodes:
                    reached[named["id"]] = target["id"]
            actual[page["id"]] = [reached[number] for number in sorted(reached)]
    return actual


def mean_vector(tokens: list[str], glove: Path) -> list[float]:
    """Return the sum of the vectors of known words over the number of all words."""
    vectors = {}
    for line in glove.read_text(encoding="utf-8").splitlines():
        word, *numbers = line.split(" ")
        vectors[word] = [float(number) for number in numbers]
    total = [0.0] * len(next(iter(vectors.values())))
    for token in tokens:
        for place, value in enumerate(vectors.get(token, [])):
            total[place] += value
    return [value / len(tokens) if tokens else 0.0 for value in total]


def masks(classes: list[str], names: list[str]) -> dict[str, Any]:
    """Return the masks of Wiki-CS's rule."""
    generator = random.Random(42)
    test: set[int] = set()
    parts: dict[str, list[set[int]]] = {name: [set() for _ in range(20)] for name in ("train", "stopping", "val")}
    for name in names:
        ids = [node for node, each in enumerate(classes) if each == name]
        generator.shuffle(ids)
        size, half = len(ids), int(0.5 * len(ids))
        test |= set(ids[:half])
        rest = ids[half:]
        for split in range(20):
            generator.shuffle(rest)
            first, second = int(0.05 * size), int(0.05 * size) + int(0.3 * size)
            parts["train"][split] |= set(rest[:first])
            parts["stopping"][split] |= set(rest[first:second])
            parts["val"][split] |= set(rest[second:])
    every = range(len(classes))
    built: dict[str, Any] = {f"{k}_masks": [[n in part for n in every] for part in v] for k, v in parts.items()}
    return {**built, "test_mask": [node in test for node in every]}


def words_of_synthetic(text: str, tokenize: Callable[[str], list[str]]) -> list[str]:
    """Return the words of a made-up article: its first paragraph, and the text of its links."""
    words, links, _ = text.split("\n\n", 2)
    return tokenize(words + "\n\n" + re.sub(r"\[\[[^|\]]*\|([^\]]*)\]\]", r"\1", links))
