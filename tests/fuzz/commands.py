"""Command lines made of every command and option there is, with sound, senseless and hostile values.

The grammar is read off the application, so that a new command or option is tried without a word here. Sizes are kept
small: a valid command must not take long.
"""

from __future__ import annotations

import random
from typing import Any

import typer
from tests.fuzz.world import TINY

from graphtrial.cli.main import app

LONG = "a" * 5000
WORDS = [
    "",
    " ",
    "-",
    "--",
    "x",
    "null",
    "true",
    "[]",
    "{}",
    "none",
    "all",
    "*",
    "é☃",
    "\udcff",
    "\u202e",
    "a\nb",
    "a\tb",
]
NUMBERS = ["nan", "inf", "-inf", "-1", "0", "1", "2", "3.5", "7", "1e3", "1e309", "1e-400", "0x10", "１２", "9" * 25]
NUMBERS += ["-" + "9" * 25, "9" * 5000]
SYNTAX = ["'", '"', "$(id)", "%s%n", "../x", "..", ".", "a/b", "a:b", "=", "a=", "=1", "k=v", "a=b=c", ",", ",,", ":"]
CODE = ["os:system", "os.path:join", "builtins:dict", "subprocess:getoutput"]
HOSTILE = [*WORDS, *NUMBERS, *SYNTAX, *CODE, LONG]
PATHS = ["study.toml", "plugin.py", "graphs.jsonl", "junk.toml", "junk.py", "junk.sqlite", "junk.pt", "store.sqlite"]
PATHS += ["graphs.edgelist", "nodes.txt", "empty", "folder", "pipe", "pipe.jsonl", "pipe.toml", "pipe.pt", "pipe.py"]
PATHS += ["pipe.sqlite", "nowhere", "nowhere/x.sqlite", "folder/new.sqlite", "/proc/x", "/dev/null", "/dev/full", LONG]
PATHS += ["/dev/null/x", f"{LONG}.toml", f"folder/{LONG}.sqlite", "out.png", "out.svg", "out.sqlite", "out.xz"]
BAD = ["nan", "-1", "0", "1.5", "x", "true", "", "9" * 30, "2"]
MODEL_KEYS = ("width", "layers", "dropout", "readout", "heads", "batch_norm", "h", "first_label")
RULE_KEYS = ("lr", "optimizer.lr", "optimizer", "schedule", "schedule.patience", "batch_size", "stopping.max_hours")
RULE_KEYS += ("schedule.factor", "stopping.min_lr", "stopping", "clip_grad_norm", "accumulation", "folds")
RULE_KEYS += ("cross_validation.folds", "optimizer.betas", "a.b.c", ".")
SETTINGS = [f"{key}={value}" for key in MODEL_KEYS for value in BAD]
RULES = [f"{key}={value}" for key in RULE_KEYS for value in [*BAD, "1e-300"]]
RULES += ["h=2.5", "h=1", "penalties=0", "penalties=nan", "penalties=1", "validation=1", "machine=x", "kind=folds"]
DATASETS = [TINY, TINY, TINY, "csl", "tu/nothing", "tu/", "mine", "no-such", f"tu/{LONG}", "aqsol"]
ENCODINGS = ["none", "laplacian:2", "laplacian:x", "laplacian", "laplacian:", "laplacian:2,sign=x", "laplacian:2,2,2"]
ENCODINGS += ["random-walk:nan", "random-walk:-1", "node-order:99999999999", "laplacian:k=2,k=3", "laplacian:2.5"]
MODELS = [
    "gcn",
    "gcn",
    "gin",
    "gat",
    "ringgnn",
    "3wlgnn",
    "mine",
    "svm",
    "mlp-direct",
    "diffpool",
    "wl",
    "shortest-path",
]
EXECUTORS = ["processes:0", "processes:x", "processes:-1", "processes:1.5", "processes:0,0", "nothing", "vectorized:x"]
EXECUTORS += [
    "vectorized:0",
    "vectorized",
    "ray:auto,cpus=x",
    "ray:local,cpus=1.5",
    "ray:local,memory_gb=nan",
    "ray:ray://x",
]
POOLS: dict[str, list[str]] = {
    **dict.fromkeys(("dataset", "names", "datasets"), DATASETS),
    **dict.fromkeys(("model", "models"), MODELS),
    "encoding": ENCODINGS,
    "settings": SETTINGS,
    "rules": RULES,
    "executor": EXECUTORS,
    "budget": ["100k", "10k", "0", "1e3", "99999999M", "0.0001k"],
    "protocol": ["bgnn-v5/csl", "tudataset/kernel-svm", "wikics/x", "*", "bgnn-v5/*"],
    "track": ["mlflow:", "x", "tensorboard:x"],
    "graphs": ["10", "12", "1/1/1", "0/0/0", "1/1", "nan", "9" * 20, "8/1/1"],
    "skips": ["2", "2,3", "2,2", "x", "", ",", "9" * 30],
    "split": ["0.8/0.1/0.1", "nan/0/0", "inf/0/0", "1/1/1", "0.5/0.5", "x", "///"],
    "task": ["graph-classification", "x"],
    "edition": ["sound", "as-published", "x"],
    "kind": ["pattern", "cluster", "models", "x"],
    "what": ["models", "datasets", "x"],
    "metric": ["euclidean", "geographic", "x"],
    "format": ["png", "svg", "jsonl", "pyg", "graphml", "edgelist", "x"],
}
BASE: dict[str, list[str]] = {
    "run": ["--workers", "0", "--seeds", "1", "--splits", "1", "--max-epochs", "1", "--width", "8", "--layers", "1"],
    "kernel": ["--workers", "0", "--repetitions", "1", "--folds", "1"],
    "study": ["--workers", "0", "--seeds", "1"],
    "watch": ["--once"],
    "reproduce": ["--workers", "0"],
    "tsp": ["--low", "5", "--high", "6", "--graphs", "3/1/1"],
    "sbm": ["--graphs", "3/1/1", "--largest", "6"],
    "cycles": ["--graphs", "3/1/1"],
    "graph-theory": ["--graphs", "3/1/1"],
    "build": ["--work", "work"],
    "stage": ["--work", "work"],
}
FILES = {"file", "name", "study", "target", "folder", "store", "plugin", "to", "report", "others", "labels", "dumps"}
FILES |= {"glove", "work", "stop_words", "punkt", "out_name", "reference", "path"}
"""Parameters that are mostly given files and folders."""
LEFT_OUT = {"--shipped", "--fetch", "--all", "--help", "-h", "--version", "--install-completion", "--show-completion"}
LEFT_OUT |= {"--until-done", "--articles", "--old", "--estimate", "--memory"}
"""Options of what takes long by its nature."""


def commands() -> dict[tuple[str, ...], list[Any]]:
    """Return every command of the application with its parameters."""
    actual: dict[tuple[str, ...], list[Any]] = {}

    def walk(command: Any, path: tuple[str, ...]) -> None:
        below = getattr(command, "commands", None)
        if below:
            for name, child in below.items():
                walk(child, (*path, name))
        else:
            actual[path] = command.params

    walk(typer.main.get_command(app), ())
    return actual


def command_line(rng: random.Random, registered: dict[tuple[str, ...], list[Any]]) -> list[str]:
    """Return the words of one command."""
    path = rng.choice(sorted(registered))
    words, options = [*path], list(BASE.get(path[-1], []))
    for parameter in registered[path]:
        opts = [opt for opt in parameter.opts if opt.startswith("-")]
        if set(opts) & LEFT_OUT:
            continue
        if not opts:
            count = rng.choice([1, 1, 1, 1, 2]) if parameter.nargs == -1 else 1
            words += [_value(parameter, rng) for _ in range(count if rng.random() < 0.97 else 0)]
        elif parameter.required or rng.random() < 0.25:
            flag = getattr(parameter, "is_flag", False)
            options += [opts[0]] if flag else [opts[0], _value(parameter, rng)]
    if "--executor" in options and "--workers" in options:
        at = options.index("--workers")
        del options[at : at + 2]
    if any("--store" in parameter.opts for parameter in registered[path]) and rng.random() < 0.7:
        options += ["--store", "store.sqlite" if rng.random() < 0.5 else f"new-{rng.randrange(3)}.sqlite"]
    if rng.random() < 0.02:
        options.append(rng.choice(HOSTILE))
    return [*words, *options]


def _value(parameter: Any, rng: random.Random) -> str:
    name, chance = str(parameter.name), rng.random()
    if name in POOLS and chance < 0.7:
        return rng.choice(POOLS[name])
    if name in FILES:
        return rng.choice(PATHS) if chance < 0.8 else rng.choice(HOSTILE)
    if chance < 0.4:
        return rng.choice(["1", "2", "3", "0.5", TINY])
    return rng.choice(HOSTILE)
