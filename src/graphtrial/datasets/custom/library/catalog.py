"""Tasks, metrics and licences of the datasets of OGB (arXiv:2005.00687) and LRGB (arXiv:2206.08164).

The metrics are those of OGB's evaluators, and of the tables of LRGB.
"""

from __future__ import annotations

from dataclasses import dataclass

AT_OGB = "see the page of the dataset at ogb.stanford.edu"
RELATIONAL = "its nodes or edges are of several types, and no relational model is registered"


@dataclass(frozen=True)
class Entry:
    """Task, as written for `--task`, and licence; `refused` is the reason why a dataset cannot be imported."""

    task: str | None = None
    licence: str = "not stated"
    refused: str = ""


def _ogb(task: str = "", refused: str = "") -> Entry:
    return Entry(task or None, AT_OGB, refused)


_ROC_AUC = "graph-binary-classification:metric=roc-auc"
_AP = "graph-binary-classification:metric=average-precision"
_RMSE = "graph-regression:metric=rmse"
OGB = {
    **{
        f"ogbg-mol{name}": _ogb(_ROC_AUC)
        for name in ("bace", "bbbp", "clintox", "sider", "tox21", "toxcast", "hiv", "chembl")
    },
    **{f"ogbg-mol{name}": _ogb(_AP) for name in ("muv", "pcba")},
    **{f"ogbg-mol{name}": _ogb(_RMSE) for name in ("esol", "freesolv", "lipo")},
    "ogbg-ppa": _ogb("graph-classification:metric=accuracy"),
    "ogbg-code2": _ogb(refused="its targets are sequences of words"),
    "ogbn-arxiv": _ogb("node-classification:metric=accuracy"),
    "ogbn-products": _ogb("node-classification:metric=accuracy"),
    "ogbn-proteins": _ogb("node-binary-classification:metric=roc-auc"),
    "ogbn-papers100m": _ogb(refused="its 111 million nodes are more than a dataset of your own may have"),
    "ogbn-mag": _ogb(refused=RELATIONAL),
    "ogbl-collab": _ogb("link-prediction:metric=hits@50"),
    "ogbl-ddi": _ogb("link-prediction:metric=hits@20"),
    "ogbl-ppa": _ogb("link-prediction:metric=hits@100"),
    "ogbl-vessel": _ogb("link-prediction:metric=roc-auc"),
    "ogbl-citation2": _ogb("link-ranking:metric=mrr"),
    "ogbl-wikikg2": _ogb(refused=RELATIONAL),
    "ogbl-biokg": _ogb(refused=RELATIONAL),
}
_F1 = "node-classification:metric=f1-macro,class_weighted=true"
LRGB = {
    "pascalvoc-sp": Entry(_F1, "custom, that of Pascal VOC 2011"),
    "coco-sp": Entry(_F1, "CC-BY-4.0"),
    "pcqm-contact": Entry("link-ranking:metric=mrr", "CC-BY-4.0"),
    "peptides-func": Entry(_AP, "CC-BY-NC-4.0"),
    "peptides-struct": Entry("graph-regression:metric=mae", "CC-BY-NC-4.0"),
}
