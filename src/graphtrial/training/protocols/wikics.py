"""The protocols of "Wiki-CS: A Wikipedia-Based Benchmark for Graph Neural Networks" (arXiv:2007.02901).

Numbers from its section 4 and appendix A; what the paper leaves open follows the released code.
"""

from __future__ import annotations

from functools import partial

from graphtrial.svm.rules import FeatureFitRules
from graphtrial.training.optim.optimizers.adam import Adam
from graphtrial.training.optim.stopping.early_stopping import EarlyStopping
from graphtrial.training.optim.stopping.max_epochs import MaxEpochs
from graphtrial.training.optim.stopping.max_hours import MaxHours
from graphtrial.training.protocols.base import adam_on_plateau, declare
from graphtrial.training.rules import TrainingRules

PAPER = "Mernyei and Cangea 2020, Wiki-CS (arXiv:2007.02901)"
INTERVAL = "The interval is the 2.5 to 97.5 % range of 1,000 bootstrap means over all trials."
WHOLE = 10**6
"""A batch size that no set of links exceeds: one batch per epoch."""


_add = partial(declare, paper=PAPER, interval="bootstrap", common_notes=(INTERVAL,))

STOPPED_EARLY = TrainingRules(
    batch_size=1,
    optimizer=Adam(lr=0.02, weight_decay=5e-4),
    stopping=(EarlyStopping(patience=100), MaxEpochs(10_000), MaxHours(12.0)),
    evaluate="best",
)
_add(
    "wikics/nodes",
    STOPPED_EARLY,
    "Training ends after 100 epochs in which the loss of the early-stopping set (val of `wikics-stopping`) was not "
    "lower than before, and the weights of the lowest loss are evaluated.",
    "The learning rate is that of each model in appendix A of the paper.",
    "Seeds are ours; the released code sets none.",
    seeds=tuple(range(5)),
    splits=20,
    exceptions={"mlp-direct": {"optimizer.lr": 0.003}, "gat-direct": {"optimizer.lr": 0.007}},
)
_add(
    "wikics/svm",
    FeatureFitRules(penalty=8.0),
    "A support vector machine is deterministic: one trial for each split.",
    seeds=tuple(range(1)),
    splits=20,
)

SPLIT_ONCE = "All runs share one division of the links: 85 % train, 5 % val, 10 % test."
DRAWN = "Each step samples as many negative pairs as there are links."
ENCODER = TrainingRules(
    batch_size=WHOLE,
    optimizer=Adam(lr=0.01),
    stopping=(MaxEpochs(200), MaxHours(12.0)),
    monitor="val_score",
)
_add(
    "wikics/links",
    ENCODER,
    SPLIT_ONCE,
    DRAWN,
    "The weights of the last of 200 epochs are evaluated.",
    seeds=tuple(range(50)),
)
_add(
    "wikics/links-mlp",
    ENCODER.changed({"batch_size": 32, "optimizer.lr": 1e-4, "stopping.max_epochs": 100, "evaluate": "best"}),
    SPLIT_ONCE,
    f"{DRAWN} Steps have 64 pairs.",
    "The epoch with the best ROC-AUC of the validation set is evaluated; the released code adds average precision.",
    seeds=tuple(range(20)),
)
_add(
    "wikics/links-graphstar",
    adam_on_plateau(WHOLE, 2e-4, 500, 2e-6, weight_decay=1e-3, monitor="val_score", evaluate="best"),
    SPLIT_ONCE,
    DRAWN,
    "The rate is halved after 500 epochs without a better validation score; the released code looks at the training "
    "loss, and clips gradients to a norm of 0.01, which is not done here.",
    "The weight decay is twice that of the paper, because the loss here is the sum of the means over links and over "
    "other pairs, twice the mean over both.",
    seeds=tuple(range(10)),
)
_add(
    "wikics/links-svm",
    FeatureFitRules(penalty=10.0, examples=10_000),
    SPLIT_ONCE,
    "Fitted to 10,000 pairs, half of them links, which the seed draws; the penalty is that of the released code.",
    seeds=tuple(range(1)),
)
