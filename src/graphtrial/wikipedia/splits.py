"""Stratified splits of Wiki-CS: one test set, and twenty train / early-stopping / validation splits of the rest."""

from __future__ import annotations

from random import Random

import numpy as np
import numpy.typing as npt

SPLITS, SEED = 20, 42
TRAIN, STOPPING, TEST = 0.05, 0.3, 0.5

Masks = dict[str, npt.NDArray[np.bool_]]


def draw_masks(classes: npt.NDArray[np.int64], count: int, splits: int = SPLITS, seed: int = SEED) -> Masks:
    """Return masks `train`, `stopping` and `val` [splits, nodes] and `test` [nodes], sampled as those of Wiki-CS.

    For each class in turn its m nodes are shuffled and the first int(0.5 m) are the test set. The others are shuffled
    again for each split: the first int(0.05 m) for training, the next int(0.3 m) for early stopping, the rest for
    validation of hyper-parameters. One generator, Python's with seed 42, does all shuffling.
    """
    random = Random(seed)
    nodes = len(classes)
    masks: Masks = {name: np.zeros((splits, nodes), bool) for name in ("train", "stopping", "val")}
    masks["test"] = np.zeros(nodes, bool)
    for number in range(count):
        ids = np.flatnonzero(classes == number).tolist()
        random.shuffle(ids)
        size = len(ids)
        test = int(TEST * size)
        masks["test"][ids[:test]] = True
        visible = ids[test:]
        train = int(TRAIN * size)
        stopping = train + int(STOPPING * size)
        for split in range(splits):
            random.shuffle(visible)
            masks["train"][split, visible[:train]] = True
            masks["stopping"][split, visible[train:stopping]] = True
            masks["val"][split, visible[stopping:]] = True
    return masks
