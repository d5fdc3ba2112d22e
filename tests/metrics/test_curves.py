"""Areas under curves against scikit-learn, column by column as in the Open Graph Benchmark."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.metrics import average_precision_score, roc_auc_score

from graphtrial.core.errors import GraphTrialError
from graphtrial.metrics import make_metric

SCORES = {"roc-auc": roc_auc_score, "average-precision": average_precision_score}


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("examples", [2, 7, 500])
@pytest.mark.parametrize("values", [1, 2, 5, 10**6], ids=["constant", "two scores", "many ties", "hardly a tie"])
def test_matches_scikit_learn(name: str, examples: int, values: int) -> None:
    generator = torch.Generator().manual_seed(examples + values)
    scores = torch.randint(values, (examples, 1), generator=generator).float() / values
    target = torch.randint(2, (examples, 1), generator=generator)
    target[:2] = torch.tensor([[0], [1]])
    expected = SCORES[name](target[:, 0], scores[:, 0])
    assert make_metric(name).compute(scores, target.float()) == pytest.approx(expected, abs=1e-12)
    two_classes = torch.cat([torch.zeros_like(scores), scores], dim=1)
    assert make_metric(name).compute(two_classes, target[:, 0]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", SCORES)
def test_missing_labels_are_masked_column_by_column(name: str) -> None:
    rng = np.random.default_rng(3)
    scores, target = rng.normal(size=(80, 5)).round(1), rng.integers(2, size=(80, 5)).astype(float)
    target[rng.random(target.shape) < 0.5] = np.nan
    target[:, 1] = np.where(np.isnan(target[:, 1]), np.nan, 0.0)  # no positive: the column is left out
    target[:, 2] = np.nan
    columns = [
        SCORES[name](y[mask], z[mask])
        for z, y in zip(scores.T, target.T, strict=True)
        if (mask := ~np.isnan(y)).any() and 0 < y[mask].sum() < mask.sum()
    ]
    assert len(columns) == 3
    actual = make_metric(name).compute(torch.tensor(scores), torch.tensor(target))
    assert actual == pytest.approx(np.mean(columns), abs=1e-12)


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("label", [0.0, 1.0])
def test_single_class_is_undefined(name: str, label: float) -> None:
    with pytest.raises(GraphTrialError, match="needs positive and negative examples"):
        make_metric(name).compute(torch.zeros(3, 1), torch.full((3, 1), label))
