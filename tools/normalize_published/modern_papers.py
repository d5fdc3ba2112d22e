"""The papers of modern models: names, citations, repositories, and whose measurement a number is."""

from __future__ import annotations

from tools.normalize_published.raw import Line

PAPERS = {
    "gps": "Rampášek et al. 2022, Recipe for a General, Powerful, Scalable Graph Transformer (arXiv:2205.12454)",
    "grit": "Ma et al. 2023, Graph Inductive Biases in Transformers without Message Passing (arXiv:2305.17589)",
    "exphormer": "Shirzad et al. 2023, Exphormer: Sparse Transformers for Graphs (arXiv:2303.06147)",
    "gnnplus": "Luo et al. 2025, Unlocking the Potential of Classic GNNs for Graph-level Tasks (arXiv:2502.09263)",
    "graphormer": "Ying et al. 2021, Do Transformers Really Perform Bad for Graph Representation? (arXiv:2106.05234)",
    "san": "Kreuzer et al. 2021, Rethinking Graph Transformers with Spectral Attention (arXiv:2106.03893)",
    "gt": "Dwivedi and Bresson 2021, A Generalization of Transformer Networks to Graphs (arXiv:2012.09699)",
    "lspe": "Dwivedi et al. 2022, Graph Neural Networks with Learnable Structural and Positional Representations "
    "(arXiv:2110.07875)",
    "pna": "Corso et al. 2020, Principal Neighbourhood Aggregation for Graph Nets (arXiv:2004.05718)",
    "dgn": "Beaini et al. 2021, Directional Graph Networks (arXiv:2010.02863)",
    "signnet": "Lim et al. 2023, Sign and Basis Invariant Networks for Spectral Graph Representation Learning "
    "(arXiv:2202.13013)",
    "tunedgnn": "Luo et al. 2024, Classic GNNs are Strong Baselines (arXiv:2406.08993)",
    "lrgb": "Dwivedi et al. 2022, Long Range Graph Benchmark (arXiv:2206.08164)",
    "lrgb-tuned": "Tönshoff et al. 2023, Where Did the Gap Go? (arXiv:2309.00367v2)",
    "hdse": "Luo et al. 2024, Enhancing Graph Transformers with Hierarchical Distance Structural Encoding "
    "(arXiv:2308.11129)",
    "spse": "Simple Path Structural Encoding for Graph Transformers (ICML 2025)",
    "gptrans": "Chen et al. 2023, Graph Propagation Transformer for Graph Representation Learning (IJCAI 2023)",
    "gist": "GIST (submission in the format of ICML)",
    "egt": "Hussain et al. 2022, Global Self-Attention as a Replacement for Graph Convolution (arXiv:2108.03348)",
    "cwn": "Bodnar et al. 2021, Weisfeiler and Lehman Go Cellular: CW Networks (arXiv:2106.12575)",
    "errica": "Errica et al. 2020, A Fair Comparison of Graph Neural Networks for Graph Classification (ICLR 2020)",
    "papers-with-code": "OpenCodePapers, a copy of the leaderboards of Papers with Code",
    "fingerprints": "Molecular Fingerprints Are Strong Models for Peptide Function Prediction (arXiv:2501.17901)",
    "gnnplus-rerun": "RaphaelPellegrin/GNNPlus, Paper_zinc_mal_seed_repro.md: a re-run of GIN+ by a third party",
    "tigt-issue": "leemingo/tigt, issue 1: re-runs of TIGT by a user",
}
"""Citation of each paper, by the name before the slash of its protocols."""

REPOSITORIES = {
    "rampasek/GraphGPS": "gps",
    "LiamMa/GRIT": "grit",
    "hamed1375/Exphormer": "exphormer",
    "LUOyk1999/GNNPlus": "gnnplus",
    "microsoft/Graphormer": "graphormer",
    "DevinKreuzer/SAN": "san",
    "graphdeeplearning/graphtransformer": "gt",
    "vijaydwivedi75/gnn-lspe": "lspe",
    "lukecavabarrett/pna": "pna",
    "Saro00/DGN": "dgn",
    "cptq/SignNet-BasisNet": "signnet",
    "LUOyk1999/tunedGNN": "tunedgnn",
    "vijaydwivedi75/lrgb": "lrgb",
    "toenshoff/LRGB": "lrgb-tuned",
}
"""The paper of each repository."""

STARTS = {
    "HDSE": "hdse",
    "Exphormer": "exphormer",
    "SPSE": "spse",
    "Errica": "errica",
    "OpenCodePapers": "papers-with-code",
    "GIST": "gist",
    "tunedGNN": "tunedgnn",
    "GPTrans": "gptrans",
    "GRIT authors": "grit",
    "CW Networks": "cwn",
    "LRGB": "lrgb",
    "Tonshoff": "lrgb-tuned",
    "GNN+": "gnnplus",
    "Graphormer": "graphormer",
    "EGT": "egt",
    "SignNet": "signnet",
    "GraphGPS": "gps",
    "GT": "gt",
    "Molecular": "fingerprints",
    "RaphaelPellegrin": "gnnplus-rerun",
    "leemingo": "tigt-issue",
}
"""The paper by the beginning of its name in `raw/modern_results.csv`."""


def paper_of(line: Line) -> str:
    """Return the name of the paper that prints a result."""
    return next(name for start, name in STARTS.items() if line["paper"].startswith(start))


def origin_of(line: Line) -> str:
    """Return whose measurement a number is; only `own` is compared with.

    `own`: measured and published by the paper; `quoted`: by another paper; `leaderboard`; `rebuttal`: a draft before
    publication; `issue`: a re-run reported in a repository; `unclear`: own or quoted, the paper does not say.
    """
    if line["paper"].startswith("GRIT authors") and line["origin"] == "own":
        return "rebuttal"
    if line["paper"].startswith(("RaphaelPellegrin", "leemingo")):
        return "issue"
    if line["origin"] == "quoted" and line["paper"].startswith(("OpenCodePapers", "LRGB")):
        return "leaderboard"
    return {"own or quoted": "unclear"}.get(line["origin"], line["origin"])
