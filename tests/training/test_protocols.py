from __future__ import annotations

import pytest

from graphtrial.errors import GraphTrialError, UnknownNameError
from graphtrial.published import configuration
from graphtrial.training import PROTOCOLS, Rules


@pytest.mark.parametrize(("dataset", "hours"), [("zinc", 12.0), ("csl", 1.2)])
@pytest.mark.parametrize("model", ["mlp", "gcn", "gin", "gatedgcn"])
def test_bgnn_v5_follows_the_released_configurations(dataset: str, hours: float, model: str) -> None:
    released = configuration(dataset, model)
    protocol = PROTOCOLS.get(f"bgnn-v5/{dataset}")
    assert released is not None
    told = released["protocol"]
    rules = protocol.rules
    assert (rules.lr, rules.factor, rules.patience, rules.min_lr, rules.batch_size) == (
        told["lr"],
        told["lr_factor"],
        told["patience"],
        told["min_lr"],
        told["batch_size"],
    )
    assert (rules.weight_decay, rules.max_epochs, rules.max_hours) == (told["weight_decay"], told["max_epochs"], hours)
    assert protocol.seeds == told["seeds"]


@pytest.mark.parametrize("name", PROTOCOLS.names())
def test_every_protocol_is_complete(name: str) -> None:
    protocol = PROTOCOLS.get(name)
    assert protocol.name == name
    assert len(set(protocol.seeds)) == len(protocol.seeds) > 0
    assert protocol.splits >= 1
    assert protocol.paper


def test_an_unknown_rule_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'patience'"):
        Rules.from_dict({"batch_size": 1, "lr": 1e-3, "patiance": 5, "min_lr": 1e-5})


@pytest.mark.parametrize(
    "wrong", [{"lr": 0}, {"batch_size": 0}, {"factor": 1.5}, {"tested": "first"}, {"max_hours": -1}]
)
def test_senseless_rules_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(GraphTrialError):
        Rules.from_dict({"batch_size": 1, "lr": 1e-3, "patience": 5, "min_lr": 1e-5, **wrong})
