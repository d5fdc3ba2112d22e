"""Trials and searches on a local Ray cluster, which all tests of this file share: starting one takes seconds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.helpers.own_layer import leaving, write
from tests.helpers.results import results
from tests.helpers.searched import declare
from tests.helpers.strangers import MODULE, run_allowed, trial

from graphtrial.core.plugins.loader import load_plugin, unload_plugin
from graphtrial.execution import Progress, make_executor, run_trials
from graphtrial.execution.ray_tasks import connected
from graphtrial.studies import ModelEntry, Study
from graphtrial.trials import Store, TrialSpec
from graphtrial.tuning.tune import tune

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder whose `library` the workers of a running Ray cluster can import from."""
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'graphtrial[ray]'")
    folder = tmp_path_factory.mktemp("ray")
    (folder / "library").mkdir()
    (folder / "library" / "marked.py").write_text(MODULE.format(mark=str(folder / "mark")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder / "library"), prepend=":")
        patch.syspath_prepend(str(folder / "library"))
        with connected(ray, "local"):
            yield folder


def trial_of(model: str) -> TrialSpec:
    entry = ModelEntry(model, {"width": 8, "layers": 1})
    return Study("s", "csl", (entry,), seeds=1, splits=1, rules={"stopping.max_epochs": 1}).trials()[0]


def test_ray_gives_the_same_search(shared: Path, tmp_path: Path) -> None:
    tuning = declare("3trials", "halving", epochs=3)
    here, ray = Store(tmp_path / "here.sqlite"), Store(tmp_path / "ray" / "s.sqlite")
    expected = tune(tuning, here, workers=0)
    assert [record.status for record in here.trials()].count("paused") == 2
    received: list[Progress] = []
    # A paused trial sends its state whatever the seconds.
    executor = make_executor("ray:checkpoint_seconds=1000")
    actual = tune(tuning, ray, executor=executor, listener=received.append)
    assert [proposal.point for proposal in actual.proposals] == [proposal.point for proposal in expected.proposals]
    assert [(each.score, each.epochs) for each in actual.results] == [
        (each.score, each.epochs) for each in expected.results
    ]
    assert results(here) == results(ray)
    epochs = [(each.trial.id, each.epoch) for each in received if each.event == "epoch"]
    assert len(epochs) == len(set(epochs)) == 1 + 1 + 3 + 3  # one of three is promoted, and tested


def test_workers_import_allowed_code_only(shared: Path, tmp_path: Path) -> None:
    spec = trial("model", trial_of("gcn"), shared, honest=True)
    run_allowed(spec, Store(tmp_path / "s.sqlite"), make_executor("ray"), shared / "mark")


def test_sys_exit_in_a_model_is_a_failed_trial(shared: Path, tmp_path: Path) -> None:
    store, trials, plugins = Store(tmp_path / "s.sqlite"), {}, []
    for number, statement in enumerate(("sys.exit(0)", "os._exit(0)")):
        text = leaving(statement, building=False).replace('"mine"', f'"mine-{number}"')
        plugins.append(load_plugin(write(tmp_path, text, f"mine_{number}.py")))
        trials[statement] = trial_of(f"mine-{number}")
    run_trials(list(trials.values()), store, executor=make_executor("ray"))
    for plugin in plugins:
        unload_plugin(plugin)
    records = {record.id: record for record in store.trials()}
    assert {record.status for record in records.values()} == {"failed"}
    assert "SystemExit: 0" in str(records[trials["sys.exit(0)"].id].error)
    assert "its process was lost" in str(records[trials["os._exit(0)"].id].error)
