"""Twenty specifications of all kinds, and how each of them is made; their ids are frozen in `specs.json`.

`python -m tests.frozen.specs` adds those that are not there yet. No line of the file is ever changed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphtrial.core.spec import Component, canonical_json
from graphtrial.studies.study import parse_encoding
from graphtrial.training import PROTOCOLS
from graphtrial.trials import TrialSpec
from graphtrial.trials.kinds import kind_of
from graphtrial.trials.provenance import current_versions

FILE = Path(__file__).parent / "specs.json"


@dataclass(frozen=True)
class Built:
    """A specification as a study makes it, without the data."""

    dataset: str
    model: str
    settings: dict[str, Any]
    protocol: str
    encoding: str = "none"
    rules: dict[str, Any] = field(default_factory=dict)
    split: int = 0
    seed: int = 41
    plugins: dict[str, str] = field(default_factory=dict)
    score_test: bool = True

    def spec(self) -> TrialSpec:
        protocol = PROTOCOLS.get(self.protocol)
        rules = protocol.rules_for(self.model, self.settings.get("layers"), self.rules)
        kind = kind_of(rules)
        encoding = parse_encoding(self.encoding, self.model) if kind.takes_encodings else None
        model_version, encoding_version = current_versions(kind, self.model, encoding)
        return TrialSpec(
            dataset=self.dataset,
            data="0" * 64,
            split=self.split,
            model=kind.resolve(Component(self.model, self.settings)),
            encoding=encoding,
            encoding_version=encoding_version,
            protocol=f"{protocol.name}@{protocol.version}",
            rules=rules,
            seed=self.seed,
            plugins=self.plugins,
            model_version=model_version,
            score_test=self.score_test,
        )


WIDTH = {"width": 64}
CASES: dict[str, Built] = {
    "plain": Built("zinc", "gcn", WIDTH, "bgnn-v5/zinc"),
    "settings": Built("csl", "gatedgcn", {"width": 70, "layers": 16, "residual": False}, "bgnn-v5/csl", split=3),
    "laplacian": Built("csl", "gin", WIDTH, "bgnn-v5/csl", "laplacian:20"),
    "laplacian-absolute": Built("csl", "mlp", WIDTH, "bgnn-v5/csl", "laplacian:20,sign=absolute"),
    "laplacian-unrandomised": Built("csl", "3wl-gnn", WIDTH, "bgnn-v5/csl", "laplacian:20"),
    "random-walk": Built("zinc", "gat", {"width": 64, "heads": 8}, "bgnn-v5/zinc", "random-walk:16"),
    "combined": Built("zinc", "gin", WIDTH, "bgnn-v5/zinc", "rwse:20+laplacian:8"),
    "combined-unrandomised": Built("csl", "3wl-gnn", WIDTH, "bgnn-v5/csl", "laplacian:8+node-order:41"),
    "laplacian-pairs": Built("zinc", "gcn", WIDTH, "bgnn-v5/zinc", "laplacian-pairs:8,normalization=none"),
    "equivariant-laplacian-2": Built("zinc", "gcn", WIDTH, "bgnn-v5/zinc", "equivariant-laplacian:8"),
    "heat-kernel": Built("zinc", "gcn", WIDTH, "bgnn-v5/zinc", "heat-kernel:20"),
    "degree": Built("zinc", "gcn", WIDTH, "bgnn-v5/zinc", "degree:8,direction=both"),
    "cycles": Built("zinc", "gcn", WIDTH, "bgnn-v5/zinc", "cycles:8"),
    "rrwp": Built("zinc", "gcn", WIDTH, "bgnn-v5/zinc", "rrwp:21"),
    "node-order": Built("csl", "ringgnn", WIDTH, "bgnn-v5/csl", "node-order:41"),
    "accumulation": Built("zinc", "3wl-gnn", {"width": 64, "layers": 8}, "bgnn-v5/zinc"),
    "first-version": Built("dd", "diffpool", WIDTH, "bgnn-v1/dd", split=9),
    "folds": Built("ENZYMES", "gin-eps", {"width": 32, "layers": 2}, "tudataset/gnn", split=4, seed=0),
    "folds-as-published": Built("ENZYMES", "gin-eps", {"width": 32, "layers": 2}, "tudataset/gnn-as-published"),
    "early-stopping": Built("wikics-stopping", "gcn-direct", WIDTH, "wikics/nodes", seed=2),
    "links": Built("cora+links", "vgae", WIDTH, "wikics/links", seed=7),
    "changed-rules": Built("csl", "gcn", WIDTH, "bgnn-v5/csl", rules={"stopping.max_epochs": 3, "optimizer.lr": 0.01}),
    "other-components": Built(
        "zinc",
        "graphsage",
        WIDTH,
        "bgnn-v5/zinc",
        rules={
            "optimizer": "adamw:lr=0.001,weight_decay=0.1",
            "schedule": "cosine:warmup_epochs=5",
            "stopping": {"min_lr": "none", "early_stopping": {"patience": 50, "min_delta": 0.01}},
            "clip_grad_norm": 1.0,
            "accumulation": 2,
        },
    ),
    "one-cycle": Built(
        "csl", "monet", WIDTH, "bgnn-v5/csl", rules={"optimizer": "sgd:lr=0.1,momentum=0.9", "schedule": "one-cycle"}
    ),
    "plug-in": Built("csl", "gcn", WIDTH, "bgnn-v5/csl", plugins={"mine.py": "a" * 64}),
    "tuning": Built("zinc", "gcn", WIDTH, "bgnn-v5/zinc", rules={"optimizer.lr": 0.01}, score_test=False),
    "kernel": Built("MUTAG", "wl", {}, "tudataset/kernel-svm", split=9, seed=3),
    "kernel-linear": Built("MUTAG", "wl", {"h": 5, "edge_labels": True}, "tudataset/kernel-linear"),
    "features": Built("wikics", "svm", {}, "wikics/svm", seed=0),
    "features-of-pairs": Built("wikics+links", "svm", {}, "wikics/links-svm", rules={"examples": 500}),
}


def frozen() -> dict[str, dict[str, Any]]:
    entries: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return entries


def main() -> None:
    registered = frozen() if FILE.exists() else {}
    for name, case in CASES.items():
        spec = case.spec()
        registered.setdefault(name, {"id": spec.id, "spec": spec.to_dict()})
    lines = ",\n".join(f" {json.dumps(name)}: {canonical_json(entry)}" for name, entry in registered.items())
    FILE.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
