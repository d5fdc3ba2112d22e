"""A training that pauses resumes to the same bits, and one of a search never sees the test part."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.training.test_resume import bits

from graphtrial.core.hardware.compute import ONE_CORE
from graphtrial.graphs import GraphBatch, GraphSet
from graphtrial.training import trainer
from graphtrial.training.batches import Job, evaluation_batches
from graphtrial.training.trainer import train


@pytest.mark.parametrize("rules", [{}, {"evaluate": "best", "monitor": "val_score"}, {"schedule": "one-cycle"}])
def test_rungs_resume_to_the_bits_of_one_training(
    make_job: Callable[..., Job], tmp_path: Path, rules: dict[str, Any]
) -> None:
    expected = train(make_job(rules))
    checkpoint = tmp_path / "checkpoint"
    epochs: list[int] = []
    for rung in (2, 2, 5):
        outcome = train(
            make_job(rules), checkpoint, lambda epoch: epochs.append(epoch.epoch), replace(ONE_CORE, pause_at=rung)
        )
        assert (outcome.status, len(outcome.epochs), outcome.scores, outcome.weights) == ("paused", rung, {}, {})
    assert epochs == [1, 2, 3, 4, 5]  # no epoch is trained twice
    resumed = train(make_job(rules), checkpoint, lambda epoch: epochs.append(epoch.epoch))
    assert bits(resumed) == bits(expected)
    assert epochs == list(range(1, len(expected.epochs) + 1))


def test_a_training_that_a_rule_ends_at_the_rung_is_finished(make_job: Callable[..., Job], tmp_path: Path) -> None:
    rules = {"stopping.max_epochs": 3}
    outcome = train(make_job(rules), tmp_path / "checkpoint", compute=replace(ONE_CORE, pause_at=3))
    assert bits(outcome) == bits(train(make_job(rules)))


def test_a_training_of_a_search_builds_no_batch_of_the_test_part(
    make_job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    job = make_job()
    built: set[int] = set()
    collate = GraphBatch.from_set

    def recorded(graphs: GraphSet, ids: Iterable[int], *arguments: Any, **options: Any) -> GraphBatch:
        built.update(np.asarray(ids).tolist())
        return collate(graphs, ids, *arguments, **options)

    def refused(job: Job, part: str, **options: Any) -> Iterable[GraphBatch]:
        assert part != "test", "the test loader was asked for"
        return evaluation_batches(job, part, **options)

    monkeypatch.setattr(GraphBatch, "from_set", recorded)
    monkeypatch.setattr(trainer, "evaluation_batches", refused)
    outcome = train(replace(job, score_test=False))
    assert built == set(job.train_ids.tolist()) | set(job.val_ids.tolist())
    monkeypatch.undo()
    full = train(job)
    assert outcome.scores == {part: full.scores[part] for part in ("train", "val")}
    assert bits(replace(outcome, scores=full.scores)) == bits(full)  # the same training otherwise
