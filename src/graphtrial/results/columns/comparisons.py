"""Columns of comparisons of two models, A and B."""

from __future__ import annotations

from graphtrial.results.columns.column import DATA, EVERYWHERE, TABLES, TERMINAL, Column, ColumnTable
from graphtrial.results.columns.formats import number
from graphtrial.results.comparison import Comparison


def _more_seeds(comparison: Comparison) -> str:
    if not comparison.is_open:
        return ""
    return "no number" if comparison.further_seeds is None else str(comparison.further_seeds)


COMPARISON_COLUMNS: ColumnTable[Comparison] = ColumnTable(
    [
        Column("dataset", "Dataset", "name of the dataset", lambda c: c.dataset, align="left", outputs=DATA | TERMINAL),
        Column("protocol", "Protocol", "name and version of the protocol", lambda c: c.protocol, outputs=DATA),
        Column(
            "metric",
            "Metric",
            "metric of the scores",
            lambda c: c.metric,
            align="left",
            priority=4,
            outputs=DATA | TERMINAL,
        ),
        Column(
            "higher_is_better",
            "Higher is better",
            "direction of the metric",
            lambda c: c.higher_is_better,
            outputs=DATA,
        ),
        Column("a", "A", "name of A", lambda c: c.a, outputs=DATA),
        Column("b", "B", "name of B", lambda c: c.b, outputs=DATA),
        Column("seeds", "Seeds", "number of seeds per split", lambda c: c.seeds, outputs=DATA),
        Column("splits", "Splits", "number of shared splits", lambda c: c.splits, outputs=DATA),
        Column("mean_a", "A", "mean test score of A", lambda c: c.mean_a, number(".3f"), outputs=DATA | TERMINAL),
        Column("mean_b", "B", "mean test score of B", lambda c: c.mean_b, number(".3f")),
        Column(
            "difference", "A - B", "difference of the mean test scores", lambda c: c.difference.mean, number("+.3f")
        ),
        Column(
            "ci",
            "95 % CI",
            "95 % confidence interval of the difference",
            lambda c: (c.difference.ci_low, c.difference.ci_high),
            lambda ends: f"[{ends[0]:+.3f}, {ends[1]:+.3f}]",
            outputs=TABLES,
        ),
        Column(
            "ci_low", "CI low", "lower confidence limit of the difference", lambda c: c.difference.ci_low, outputs=DATA
        ),
        Column(
            "ci_high",
            "CI high",
            "upper confidence limit of the difference",
            lambda c: c.difference.ci_high,
            outputs=DATA,
        ),
        Column("std", "Std", "standard deviation of the differences", lambda c: c.difference.std, outputs=DATA),
        Column(
            "standard_error",
            "SE",
            "standard error of the difference",
            lambda c: c.difference.standard_error,
            outputs=DATA,
        ),
        Column("dof", "Dof", "degrees of freedom of the standard error", lambda c: c.difference.dof, outputs=DATA),
        Column(
            "p", "p", "two-sided p-value", lambda c: c.difference.p, number(".3g"), priority=3, outputs=DATA | TERMINAL
        ),
        Column("p_holm", "p (Holm)", "p-value after Holm's correction", lambda c: c.p_holm, number(".3g")),
        Column(
            "p_min",
            "p min",
            "smallest p-value attainable with this number of trials",
            lambda c: c.difference.p_min,
            outputs=DATA,
        ),
        Column(
            "p_equivalence",
            "p (TOST)",
            "p-value of two one-sided tests with the equivalence margin",
            lambda c: c.difference.p_equivalence,
            outputs=DATA,
        ),
        Column(
            "margin",
            "Margin",
            "equivalence margin",
            lambda c: c.difference.margin,
            number(".3g"),
            priority=3,
            outputs=DATA | TERMINAL,
        ),
        Column(
            "effect_size",
            "Effect size",
            "mean over standard deviation of the differences (Cohen's d)",
            lambda c: c.difference.effect_size,
            number("+.2f"),
            priority=2,
        ),
        Column(
            "prob_superiority",
            "P(A > B)",
            "probability that a trial of A is higher on the same split",
            lambda c: c.difference.prob_superiority,
            outputs=DATA,
        ),
        Column(
            "design",
            "Design",
            "by split, by fold and seed, or independent",
            lambda c: c.difference.design,
            outputs=DATA,
        ),
        Column(
            "pairs",
            "Compared",
            "number of pairs; 0 for independent samples",
            lambda c: c.difference.pairs,
            text=lambda c: c.basis,
            priority=1,
        ),
        Column("trials_a", "Trials of A", "number of trials of A", lambda c: c.difference.trials_a, outputs=DATA),
        Column("trials_b", "Trials of B", "number of trials of B", lambda c: c.difference.trials_b, outputs=DATA),
        Column(
            "overlap",
            "Overlap",
            "test over training set size of a cross-validation",
            lambda c: c.difference.overlap,
            outputs=DATA,
        ),
        Column("verdict", "Verdict", "which model is better, if either", lambda c: c.verdict, align="left"),
        Column(
            "more_seeds",
            "More seeds",
            "additional seeds that would decide with 80 % power",
            lambda c: c.further_seeds,
            text=_more_seeds,
            missing="",
            outputs=EVERYWHERE - {"terminal"},
        ),
        Column("notes", "Notes", "remarks", lambda c: c.notes, flat={"": lambda c: "; ".join(c.notes)}, outputs=DATA),
        Column("conclusion", "Conclusion", "the verdict as a sentence", lambda c: c.conclusion, outputs=DATA),
    ]
)
