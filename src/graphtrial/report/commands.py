"""The command that makes the trials of a row from nothing."""

from __future__ import annotations

import shlex

from graphtrial.report.rows import ResultRow
from graphtrial.spec import as_typed
from graphtrial.training import PROTOCOLS, FoldRules, Rules


def run_command(row: ResultRow) -> str | None:
    """Return the `graphtrial run` that gives exactly the trials of a row, every setting written out, or nothing.

    There is none where validation chose settings, for kernels, for a setting that a command cannot say, and where the
    splits and seeds are not the first ones of the protocol.
    """
    spec = row.first.spec
    name = spec.protocol.partition("@")[0]
    if not isinstance(spec.rules, Rules) or isinstance(spec.rules, FoldRules) or name not in PROTOCOLS:
        return None
    protocol = PROTOCOLS.get(name)
    places = {(trial.spec.split, trial.spec.seed) for trial in row.trials}
    splits = 1 + max(split for split, _ in places)
    seeds = len({seed for _, seed in places})
    if places != {(split, seed) for split in range(splits) for seed in protocol.first_seeds(seeds)}:
        return None
    words = ["graphtrial", "run", spec.dataset, spec.model.name]
    if spec.encoding is not None:
        words += ["--encoding", str(spec.encoding)]
    for key, value in spec.model.arguments.items():
        if value is not None:
            words += ["--set", f"{key}={as_typed(value)}"]
    words += ["--protocol", name]
    official = vars(protocol.rules_for(spec.model.name, spec.model.arguments.get("layers")))
    for key, value in vars(spec.rules).items():
        if value != official[key]:
            words += ["--rule", f"{key}={as_typed(value)}"]
    for file in spec.plugins:
        words += ["--plugin", file] if file.endswith(".py") else []
    return shlex.join([*words, "--seeds", str(seeds), "--splits", str(splits)])
