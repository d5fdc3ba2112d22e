from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.cli import CliRunner, Result

from graphtrial import __version__
from graphtrial.cli import run
from graphtrial.cli.main import app
from graphtrial.published import Configuration, configurations
from graphtrial.studies import ModelEntry, Study
from graphtrial.studies.edition import in_edition
from graphtrial.studies.plan import plan
from graphtrial.trials.environment import NUMERICS

COMMANDS = ["run", "study", "list", "params", "status", "show", "report", "doctor", "validate"]
COMMANDS += ["data prepare", "data info", "data plot"]
PNA_PARAMETERS = {"pna/zinc": 95111, "pna/zinc-mpnn-no-edges": 89341, "lspe/zinc-no-positions": 369235}
"""Released counts of PNA on ZINC, by the protocol of the configuration."""
QUICK = ["--width", "8", "--max-epochs", "2", "--workers", "0", "--splits", "2", "--seeds", "1"]


def call(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def call_json(*words: str) -> Any:
    result = call(*words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "results" / "store.sqlite")


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str) -> None:
    result = call(*command.split(), "--help")
    assert result.exit_code == 0
    assert "Usage" in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command: str) -> None:
    assert "graphtrial " + command in call(*command.split(), "--help").stdout.partition("Example:")[2]


def test_version_option_prints_the_version() -> None:
    assert call("--version").stdout.strip() == f"graphtrial {__version__}"


@pytest.mark.parametrize("words", [("--version", "--json"), ("--json", "--version")])
def test_version_as_json_describes_the_installation(words: tuple[str, ...]) -> None:
    facts = json.loads(call(*words).stdout)
    assert facts["graphtrial"] == __version__
    assert facts["numerics"] == NUMERICS


@pytest.mark.parametrize("words", [("--json",), ("--json", "list", "models")])
def test_json_without_version_stands_after_the_command(words: tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == 2
    assert "--json stands after the command" in result.output


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["datasets", "models", "encodings", "kernels", "protocols", "tasks", "metrics", "studies"]
)
def test_list_prints_every_registry(kind: str) -> None:
    names = [entry["name"] for entry in call_json("list", kind)]
    assert names
    shown = call("list", kind).stdout
    assert [name for name in names if name not in shown] == []


@pytest.mark.slow
def test_run_prints_the_documented_json(store: str) -> None:
    printed = call_json("run", "csl", "gatedgcn", "--encoding", "laplacian:20", "--store", store, *QUICK)
    assert set(printed["test"]) == {"mean", "std", "min", "max", "n", "ci_low", "ci_high"}
    assert printed["test"]["n"] == 2
    assert printed["epochs"] == 2
    assert printed["encoding"] == {"name": "laplacian", "k": 20, "sign": "random"}
    assert printed["settings"]["width"] == 8
    keys = Path(__file__).parents[2].joinpath("docs/json.md").read_text(encoding="utf-8")
    assert all(f"`{key}`" in keys for key in printed)


@pytest.mark.slow
def test_run_prints_published_row_and_reuses_finished_trials(store: str) -> None:
    words = ["run", "csl", "gcn", "--encoding", "laplacian:20,sign=absolute", "--store", store, *QUICK]
    first, again = call(*words), call(*words)
    assert first.exit_code == again.exit_code == 0
    assert "100.000±0.000" in first.stdout
    assert "CHANGED RULES: stopping.max_epochs = 2" in first.stdout
    assert first.stdout == again.stdout
    assert [entry["status"] for entry in call_json("status", "--store", store)] == ["done", "done"]


@pytest.mark.slow
def test_status_show_and_report_list_a_trial(store: str, tmp_path: Path) -> None:
    printed = call_json("run", "csl", "mlp", "--store", store, *QUICK)
    trial = printed["trials"][0]
    shown = call_json("show", trial[:8], "--store", store)
    assert (shown["status"], shown["epochs"], len(shown["history"])) == ("done", 2, 2)
    assert shown["spec"]["model"]["name"] == "mlp"
    assert trial in call("status", "--store", store).stdout
    assert trial in call("show", trial, "--store", store).stdout
    assert "index.html" in call("report", "--store", store, "--out", str(tmp_path / "site")).stdout.replace("\n", "")
    assert (tmp_path / "site" / "report.md").exists()
    assert call_json("report", "--store", store) == [printed]
    assert "| MLP | none |" in call("report", "--markdown", "--store", store).stdout


def test_failed_trial_shows_its_traceback(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_model.py").write_text(
        "from torch import nn\n"
        "class Broken(nn.Module):\n"
        "    def __init__(self, shapes, width: int = 4):\n"
        "        super().__init__()\n"
        "        self.linear = nn.Linear(1, width)\n"
        "    def forward(self, graph):\n"
        "        raise RuntimeError('the model is broken')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    words = ["run", "csl", "broken_model:Broken", "--splits", "1", "--seeds", "1", "--workers", "0", "--store", store]
    result = call(*words)
    assert result.exit_code == 1
    trial = call_json("status", "--store", store)[0]["id"]
    assert f"graphtrial show {trial}" in result.stderr
    shown = call("show", trial, "--store", store).stdout
    assert "Traceback" in shown
    assert "RuntimeError: the model is broken" in shown


def test_study_file_is_planned_and_run(store: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'title = "mine"\ndataset = "csl"\nseeds = 1\nsplits = 1\nrules = {stopping.max_epochs = 1}\n'
        '[[models]]\nname = "gcn"\nwidth = 8\n[[models]]\nname = "mlp"\nwidth = 8\n'
    )
    assert len(call_json("study", str(file), "--dry-run")) == 2
    assert "mine: 2 trials" in call("study", str(file), "--dry-run").stdout
    printed = call_json("study", str(file), "--store", store, "--workers", "0")
    assert [row["model"] for row in printed] == ["gcn", "mlp"]


def test_params_command_counts_by_module() -> None:
    printed = call_json("params", "csl", "gcn", "--encoding", "laplacian:20")
    assert printed["params"] == sum(printed["parts"].values()) == 103847
    assert "103847" in call("params", "csl", "gcn", "--encoding", "laplacian:20").stdout
    for option in ("--budget", "--params"):  # two names of the parameter budget
        assert call_json("params", "csl", "gcn", option, "50k")["params"] <= 50_000


@pytest.mark.parametrize(("model", "short"), [("gps", True), ("gcn", False)])
def test_params_say_how_far_a_model_is_below_its_budget(model: str, short: bool) -> None:
    counted = call("params", "zinc", model, "--budget", "100k")
    assert ("% less than the budget" in counted.stderr) == short


@pytest.mark.parametrize("edition", ["sound", "as-published"])
@pytest.mark.parametrize(
    ("dataset", "model", "protocol"),
    [("zinc", "pna", "pna/zinc-no-edges"), ("pattern", "gcn-plus", "gnnplus/*"), ("cluster", "exphormer", None)],
)
def test_params_are_those_of_the_trials(dataset: str, model: str, protocol: str | None, edition: str) -> None:
    options = ["--edition", edition, *(["--protocol", protocol] if protocol else [])]
    row = ModelEntry(model, encodings=("none",))
    (planned,) = plan(in_edition(Study("", dataset, (row,), protocol=protocol), edition))
    printed = call_json("params", dataset, model, *options)
    assert (printed["dataset"], printed["settings"]) == (planned.dataset, planned.settings)


LOGITS = [config for config in configurations() if (config.protocol or "").endswith("/pattern") and config.params]


@pytest.mark.parametrize("config", LOGITS, ids=lambda config: f"{config.source.rpartition('/')[2]}")
def test_params_count_the_logits_of_the_protocol(config: Configuration) -> None:
    settings = [part for key, value in config.settings.items() for part in ("--set", f"{key}={value}")]
    options = ["--protocol", str(config.protocol), "--encoding", config.encoding, "--layers", str(config.layers)]
    printed = call_json("params", "pattern", config.model, *options, *settings)
    assert printed["params"] == config.params


def test_params_of_a_protocol_are_the_released_ones() -> None:
    counts = {name: call_json("params", "zinc", "pna", "--protocol", name)["params"] for name in PNA_PARAMETERS}
    assert counts == PNA_PARAMETERS
    refused = call("params", "zinc", "pna", "--protocol", "pna/zink")
    assert refused.exit_code != 0
    assert "pna/zinc" in refused.stderr


@pytest.mark.parametrize("edition", ["sound", "as-published"])
def test_run_takes_an_edition(edition: str, monkeypatch: pytest.MonkeyPatch) -> None:
    declared: list[Study] = []
    monkeypatch.setattr(run, "run_and_show", lambda study, *rest: declared.append(study))
    call("run", "zinc", "gcn-plus", "--protocol", "gnnplus/zinc", "--edition", edition)
    (planned,) = plan(declared[0])
    assert (planned.settings["convolution"] == "edge-sum") == (edition == "as-published")


def test_list_protocols_prints_the_rules_of_kernels() -> None:
    (nested,) = (entry for entry in call_json("list", "protocols") if entry["name"] == "tudataset/nested")
    assert nested["kernel_rules"] == {"fold_seed": 0, "refit": True}
    shown = " ".join(call("list", "protocols").stdout.replace("│", " ").split())
    assert '"kernels": {"fold_seed": 0' in shown
    assert "kernel rules" not in shown  # no column that is empty in nearly all rows


def test_data_prepare_and_info_print_statistics() -> None:
    assert call_json("data", "prepare", "csl")[0]["graphs"] == 150
    assert call_json("data", "info", "csl")["graphs"] == 150
    text = call("data", "info", "csl").stdout
    assert "5 x train / val / test = 90 / 30 / 30" in text
    assert "nodes: 41" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "csll", "gcn"], "Did you mean 'csl'"),
        (["run", "csl", "gnc"], "Did you mean 'g"),
        (["run", "csl", "gcn", "--set", "widht=4"], "Did you mean 'width'"),
        (["run", "csl", "gcn", "--set", "width"], "write key=value"),
        (["run", "csl", "gcn", "--rule", "patiance=4"], "Did you mean 'schedule.patience'"),
        (["run", "csl", "gcn", "--encoding", "laplacian:x"], "k of 'laplacian:x' must be an integer from 1"),
        (["run", "csl", "gcn", "--encoding", "laplacian"], "needs a value for k"),
        (["run", "csl", "gcn", "--protocol", "bgnn-v5/clsx"], "Did you mean 'bgnn-v5/csl'"),
        (["run", "csl", "gcn", "--budget", "lots"], "not a parameter budget"),
        (["run", "csl", "gcn", "--params", "lots"], "not a parameter budget"),
        (["run", "csl", "gcn", "--budget", "60trials"], "what `graphtrial tune` may spend"),
        (["run", "csl", "gcn", "--seeds", "20001"], "seeds of the study must be an integer from 1 to 10,000"),
        (["run", "zinc", "gcn"], "GRAPHTRIAL_MIRROR"),
        (["list", "model"], "Did you mean 'models'"),
        (["study", "nothing"], "no study called"),
        (["show", "abc"], "no store"),
        (["status", "--store", "nowhere/store.sqlite"], "no store"),
        (["data", "info", "zinkc"], "Did you mean 'zinc'"),
    ],
)
def test_usage_error_is_one_line_with_non_zero_exit_code(
    words: list[str], message: str, tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = call(*words)
    assert result.exit_code == 2
    assert result.stderr.startswith("graphtrial: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.output


def test_help_does_not_import_torch() -> None:
    code = "import sys\nfrom graphtrial.cli.main import app\nprint('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
