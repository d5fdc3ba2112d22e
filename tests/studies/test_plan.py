"""Plans, estimates and editions of studies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.helpers.cli import CliRunner

from graphtrial.cli.main import app
from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets import load
from graphtrial.execution import run_trials
from graphtrial.studies import ModelEntry, Study, load_study
from graphtrial.studies.edition import in_edition
from graphtrial.studies.estimate import Timing, cached_timing, measure_timing, time_left
from graphtrial.studies.eta import study_eta
from graphtrial.studies.plan import finished, plan
from graphtrial.training import PROTOCOLS
from graphtrial.trials import Store
from graphtrial.trials.kinds import kind_of


def test_plan_has_the_number_of_trials_of_the_study(study: Study) -> None:
    rows = plan(study)
    assert sum(row.trials for row in rows) == len(study.trials()) == 4
    assert {row.model.name for row in rows} == {"gcn"}


def test_plan_needs_no_data() -> None:
    rows = plan(load_study("bgnn-v5/table-5"))
    assert {row.dataset for row in rows} == {"ogbl-collab"}
    assert sum(row.trials for row in rows) == 4 * len(rows)


@pytest.mark.slow
def test_finished_trials_match_for_any_data_hash(study: Study, store: Store) -> None:
    run_trials(study.trials()[:3], store, workers=0)
    actual = finished(plan(study), store.trials())
    assert sorted(map(len, actual.values())) == [1, 2]
    etas = study_eta(study, store.trials())
    assert sum(one.done for one in etas) == 3
    assert all(one.left is not None and one.left.source == "finished" for one in etas)
    assert [one.left.seconds.high for one in etas if one.left and one.done == one.row.trials] == [0.0]


def test_epochs_are_expected_from_the_schedule() -> None:
    # 1e-3 is halved seven times until it is below 1e-5; each takes about twice (10 + 1) epochs.
    assert kind_of(PROTOCOLS.get("bgnn-v5/zinc").rules).expected_epochs == 7 * 2 * 11
    few = PROTOCOLS.get("bgnn-v5/zinc").rules_for("gcn", 4, {"stopping.max_epochs": 20})
    assert kind_of(few).expected_epochs == 20


def test_timings_are_cached(study: Study, own_home: Path) -> None:
    (row, _) = plan(study)
    assert cached_timing(row) is None
    guess = time_left(row, [], None, None)
    assert guess is not None
    assert guess.is_guess  # no trial of this width was shipped
    with pytest.raises(GraphTrialError, match="csl is not prepared"):
        measure_timing(row)
    load("csl")
    etas = measure_timing(row)
    assert etas.epoch_seconds > 0
    assert cached_timing(row) == etas
    (file,) = (own_home / "timings").iterdir()
    for damaged in ("{}", "[1]", file.read_text().replace("measured", "guessed")):
        file.write_text(damaged)
        assert cached_timing(row) is None
    timed = time_left(row, [], Timing(1800.0, "made up"), None)
    assert timed is not None
    assert timed.seconds.expected == pytest.approx(row.trials * 3600.0)
    assert timed.source == "timed"


def test_untimed_rows_have_a_reason(study: Study, own_home: Path) -> None:
    received: list[str] = []
    etas = study_eta(study, [], measure=True, report=received.append)
    assert {one.left.source for one in etas if one.left} == {"nearest"}
    assert all("csl is not prepared" in words for words in received)
    load("csl")
    etas = study_eta(study, [], measure=True, report=received.append)
    assert {one.left.source for one in etas if one.left} == {"timed"}


def test_estimated_hours_respect_max_hours(study: Study) -> None:
    (row, _) = plan(study)
    left = time_left(row, [], Timing(1e9, "made up"), None)
    assert left is not None
    assert left.seconds.high == pytest.approx(row.trials * 3600 * row.kind.max_hours)


def test_as_published_edition_uses_published_faults() -> None:
    faulty = in_edition(load_study("bgnn-v5/table-12"), "as-published")
    assert faulty.datasets == ("graphtheoryprop-as-published",)
    assert plan(faulty)
    kernels = in_edition(load_study("tudataset/table-1"), "as-published")
    assert {row.model for row in kernels.rows} >= {"wl-as-published", "shortest-path-as-published", "gin-eps"}
    assert {row.protocol for row in kernels.rows} >= {"tudataset/gnn-as-published"}
    assert in_edition(load_study("demo"), "sound") == load_study("demo")
    with pytest.raises(GraphTrialError, match="no edition called 'best'"):
        in_edition(load_study("demo"), "best")


def test_unpublished_row_raises() -> None:
    study = Study("s", "zinc", (ModelEntry("gcn", {"layers": 7}),), published="bgnn-v5/table-3")
    with pytest.raises(GraphTrialError, match="bgnn-v5/table-3 has no row on zinc for gcn with layers = 7"):
        plan(study)
    with pytest.raises(GraphTrialError, match="no published table called 'bgnn-v5/table-99'"):
        plan(Study("s", "zinc", (ModelEntry("gcn"),), published="bgnn-v5/table-99"))


def test_studies_are_listed_with_progress(tmp_path: Path) -> None:
    words = ["list", "studies", "--only", "bgnn-v5/table-1", "--store", str(tmp_path / "none.sqlite")]
    result = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert [entry["name"] for entry in result] == [f"bgnn-v5/table-{n}" for n in (10, 11, 12, 13, 14, 15, 16)]
    assert result[0]["rows"] == 21
    assert result[0]["trials"] == 2100
    assert result[0]["done"] == 0
    text = CliRunner().invoke(app, words)
    assert text.exit_code == 0, text.output
    assert "2100" in text.stdout
    assert not (tmp_path / "none.sqlite").exists()


def test_dry_run_filters_and_prints_the_plan(tmp_path: Path) -> None:
    words = ["study", "bgnn-v5/table-10", "--seeds", "4", "--models", "gcn,gin", "--dry-run"]
    etas = CliRunner().invoke(app, [*words, "--store", str(tmp_path / "none.sqlite")])
    assert etas.exit_code == 0, etas.output
    assert "80 trials in 4 rows, 0 of them done" in etas.stdout
    left_out = CliRunner().invoke(app, ["study", "bgnn-v5/table-5", "--dry-run"]).stdout
    assert "not run: OGBL-COLLAB RingGNN" in left_out
