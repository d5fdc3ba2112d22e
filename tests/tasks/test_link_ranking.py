"""The areas under curves against scikit-learn."""

from __future__ import annotations

import pytest
import torch
from sklearn.metrics import average_precision_score, roc_auc_score

from graphtrial.core.errors import GraphTrialError
from graphtrial.tasks import LinkRanking


@pytest.mark.parametrize("pairs", [2, 7, 500])
@pytest.mark.parametrize("values", [2, 5, 10**6], ids=["two scores", "many ties", "hardly a tie"])
def test_areas_are_those_of_scikit_learn(pairs: int, values: int) -> None:
    generator = torch.Generator().manual_seed(pairs + values)
    scores = torch.randint(values, (pairs, 1), generator=generator).float() / values
    linked = torch.randint(2, (pairs,), generator=generator)
    linked[:2] = torch.tensor([0, 1])
    task = LinkRanking()
    assert task.score(scores, linked) == pytest.approx(roc_auc_score(linked, scores[:, 0]), abs=1e-12)
    assert task.further(scores, linked)["AP"] == pytest.approx(average_precision_score(linked, scores[:, 0]), abs=1e-12)


def test_one_kind_of_pairs_has_no_curve() -> None:
    with pytest.raises(GraphTrialError, match="but one kind"):
        LinkRanking().score(torch.zeros(3, 1), torch.ones(3))
