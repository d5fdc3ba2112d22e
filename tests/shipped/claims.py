"""Numbers of the shipped results and registries in the documents: `python -m tests.shipped.claims` updates them.

A claim stands between comments that readers of the page do not see: `<!--= KEY -->what is said<!---->`. The key says
which fact of the shipped store it must be; the test recomputes it, so that no page contradicts the results.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from graphtrial.core.index import indexed
from graphtrial.published import configurations, published_results
from graphtrial.results.departures import badges
from graphtrial.results.rows import ResultRow
from graphtrial.results.select import matches, rows_of
from graphtrial.results.titles import dataset_title, label_title
from graphtrial.results.verdict import tally
from graphtrial.shipped import shipped_store
from graphtrial.shipped.packed import packed
from graphtrial.training import PROTOCOLS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CLAIM = re.compile(r"<!--= (?P<key>[^>]+?) -->(?P<claimed>.*?)<!---->", re.DOTALL)
VERDICTS = ("reproduced", "differs (better)", "differs (worse)", "inconclusive", "not comparable")
MODERN_DATA = ("zinc", "pattern", "cluster", "mnist", "cifar10")
NODE_MODELS = {
    "SVM": "svm",
    "MLP": "mlp-direct/first_activation=true",
    "MLP as released": "mlp-direct/first_activation=false",
    "GCN": "gcn-direct",
    "GAT": "gat-direct",
    "APPNP": "appnp",
}
WORDS = ("data", "protocol", "models", "model", "verdict")
"""The columns that are to the left."""
LINK_ROWS = (
    ("VGAE", "vgae", "cora+links"),
    ("MLP", "mlp-direct", "cora+links"),
    ("GraphStar", "graphstar", "cora+links"),
    ("SVM", "svm", "cora+links"),
    ("VGAE", "vgae", "citeseer+links"),
    ("SVM", "svm", "citeseer+links"),
    ("MLP", "mlp-direct", "cora+links-hard"),
    ("SVM", "svm", "cora+links-hard"),
    ("VGAE", "vgae", "cora+links-hard"),
    ("SVM", "svm", "wikics-standin+links-10000"),
    ("VGAE", "vgae", "wikics-standin+links-10000"),
)


class NotShippedError(LookupError):
    """A page names a row that is not in the shipped store."""


@cache
def shipped_rows() -> tuple[ResultRow, ...]:
    """Return every row of the shipped store, with its verdict."""
    return tuple(rows_of(shipped_store(), "all"))


def expected(key: str) -> str:
    """Return the correct text of a claim."""
    name, *arguments = shlex.split(key)
    if name not in FACTS:
        raise KeyError(f"no fact called '{name}'; there are {', '.join(FACTS)}")
    return FACTS[name](*arguments)


def row(dataset: str, name: str) -> ResultRow:
    """Return the one shipped row of a dataset that a name means, as in `graphtrial compare`."""
    actual = [row for row in shipped_rows() if row.first.spec.dataset == dataset and matches(row, name)]
    if not actual:
        raise NotShippedError(f"no shipped row on {dataset} is called '{name}'")
    if len(actual) > 1:
        raise LookupError(f"{len(actual)} shipped rows on {dataset} are meant by '{name}', not one")
    return actual[0]


def trials() -> str:
    return f"{len(shipped_store().trials()):,}"


def registered(kind: str) -> str:
    """Return how many components of a kind `graphtrial list` shows, or studies."""
    entries = indexed(kind)
    if entries is None:
        raise LookupError("the index of registered components is outdated: run `python -m tools.index` first")
    return str(len(entries.entries))


def megabytes() -> str:
    return f"{len(packed().read_bytes()) / 1e6:.1f} MB"


def mean(dataset: str, name: str, digits: str) -> str:
    test = row(dataset, name).scores("test")
    if test is None:
        raise LookupError(f"{name} on {dataset} has no test score")
    return f"{test.mean:.{int(digits)}f}"


def spread(dataset: str, name: str, digits: str) -> str:
    test = row(dataset, name).scores("test")
    if test is None or test.std is None:
        raise LookupError(f"{name} on {dataset} has fewer than two test scores")
    return f"{test.mean:.{int(digits)}f} ± {test.std:.{int(digits)}f}"


def interval(dataset: str, name: str, digits: str) -> str:
    test = row(dataset, name).scores("test")
    if test is None or test.ci_low is None or test.ci_high is None:
        return mean(dataset, name, digits)
    return f"{test.mean:.{int(digits)}f} [{test.ci_low:.{int(digits)}f}, {test.ci_high:.{int(digits)}f}]"


def verdicts() -> str:
    """Return how many rows have each verdict, those with a badge apart."""
    faithful, apart = tally(shipped_rows())
    lines = [[verdict, str(faithful[verdict]), str(apart[verdict])] for verdict in VERDICTS]
    sums = [str(sum(int(line[place]) for line in lines)) for place in (1, 2)]
    return _table(["verdict", "rows", "rows with a badge"], [*lines, ["all", *sums]])


def contents() -> str:
    """Return what the store has: data, models, splits and seeds of each row."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for actual in shipped_rows():
        spec = actual.first.spec
        splits, seeds = ({getattr(trial.spec, part) for trial in actual.trials} for part in ("split", "seed"))
        runs = f"{len(splits)} x {len(seeds)}"
        if len(actual.trials) != len(splits) * len(seeds):
            runs = f"{len(actual.trials)} of {runs}"
        title = " ".join(filter(None, [dataset_title(spec.dataset), badges(actual)]))
        encoding = "" if actual.encoding == "none" else actual.encoding
        details = ", ".join(filter(None, [encoding, actual.differs_in]))
        model = f"{label_title(actual)} ({details})" if details else label_title(actual)
        groups.setdefault((title, runs, spec.protocol.partition("@")[0]), []).append(model)
    lines = [
        [title, f"`{protocol}`", ", ".join(dict.fromkeys(models)), runs]
        for (title, runs, protocol), models in sorted(groups.items())
    ]
    return _table(["data", "protocol", "models", "splits x seeds"], lines)


def wikics_nodes() -> str:
    lines = [
        [title, *(interval(dataset, name, "2") for name in NODE_MODELS.values())]
        for title, dataset in (("Cora", "cora"), ("CiteSeer", "citeseer"))
    ]
    return _table(["data", *NODE_MODELS], lines)


def wikics_links() -> str:
    lines = []
    for title, name, dataset in LINK_ROWS:
        actual = row(dataset, name)
        there = len(PROTOCOLS.get(actual.first.spec.protocol.partition("@")[0]).seeds)
        tried = len({trial.spec.seed for trial in actual.trials})
        seeds = "all" + (f" {there}" if there > 1 else "") if tried == there else f"{tried} of {there}"
        precision = next(summary for name, summary in actual.extra_metrics.items() if name == "AP")
        lines.append([title, f"`{dataset}`", seeds, interval(dataset, name, "3"), f"{precision.mean:.3f}"])
    return _table(["model", "data", "seeds", "ROC-AUC", "AP"], lines)


def published(kind: str) -> str:
    """Return the published numbers of modern models: the papers' own, or others with their source."""
    lines = []
    models = dict.fromkeys(config.model for config in configurations() if config.main)
    for model in models:
        cells = [_published_cell(model, dataset, own=kind == "own") for dataset in MODERN_DATA]
        if any(cells):
            lines.append([f"`{model}`", *cells])
    return _table(["model", *map(dataset_title, MODERN_DATA)], lines)


def _published_cell(model: str, dataset: str, *, own: bool) -> str:
    """Return the best own number of the first table that has one, or the first quotation, with an encoding if any."""
    rows = [
        row
        for row in sorted(published_results(), key=lambda row: row.encoding == "none")
        if row.protocol and not row.reason and row.models[0].name == model and dataset in row.datasets
        if row.test and (row.origin == "own") == own
    ]
    if not rows:
        return ""
    if not own:
        return f"{rows[0].test.text} ({rows[0].origin}: {rows[0].paper})"
    table = [row for row in rows if (row.paper, row.table) == (rows[0].paper, rows[0].table)]
    return max(table, key=lambda row: row.test.mean if row.higher_is_better else -row.test.mean).test.text


FACTS: dict[str, Callable[..., str]] = {
    "trials": trials,
    "registered": registered,
    "megabytes": megabytes,
    "mean": mean,
    "spread": spread,
    "interval": interval,
    "verdicts": verdicts,
    "contents": contents,
    "wikics-nodes": wikics_nodes,
    "wikics-links": wikics_links,
    "published": published,
}


def _table(headers: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table on lines of its own, with numbers to the right."""
    rule = "|" + "|".join("---" if header in WORDS else "--:" for header in headers) + "|"
    built = [f"| {' | '.join(line)} |" for line in (headers, *lines)]
    return "\n".join(["", "", built[0], rule, *built[1:], "", ""])


def rewritten(text: str) -> str:
    """Return a page with every claim as the shipped store has it; what it does not have stays as it is."""

    def written(claim: re.Match[str]) -> str:
        try:
            return f"<!--= {claim['key']} -->{expected(claim['key'])}<!---->"
        except NotShippedError as error:
            print(f"left as it is: {claim['key']} ({error})")
            return claim[0]

    return CLAIM.sub(written, text)


if __name__ == "__main__":
    for page in PAGES:
        before = page.read_text(encoding="utf-8")
        after = rewritten(before)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(f"updated: {page.relative_to(ROOT)}")
