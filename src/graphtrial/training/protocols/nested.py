"""Nested model selection after "A Fair Comparison of Graph Neural Networks" (arXiv:1912.09893)."""

from __future__ import annotations

from graphtrial.svm.rules import KernelFoldRules
from graphtrial.training.cross_validation import CrossValidation
from graphtrial.training.optim.optimizers.adam import Adam
from graphtrial.training.optim.schedules.step import Step
from graphtrial.training.optim.stopping.early_stopping import EarlyStopping
from graphtrial.training.optim.stopping.max_epochs import MaxEpochs
from graphtrial.training.optim.stopping.max_hours import MaxHours
from graphtrial.training.protocols.base import declare
from graphtrial.training.rules import TrainingRules

FOLD_SEED = 0
NETWORK = TrainingRules(
    batch_size=32,
    optimizer=Adam(lr=1e-2),
    schedule=Step(step_size=50, gamma=0.5),
    stopping=(EarlyStopping(500), MaxEpochs(1000), MaxHours(12.0)),
    monitor="val_score",
    evaluate="best",
    cross_validation=CrossValidation(select=(), fold_seed=FOLD_SEED),
)

declare(
    "tudataset/nested",
    NETWORK,
    "Ten stratified outer folds, the same for all models and seeds; drawn here, not those that the authors released.",
    "`graphtrial tune` selects the settings of each outer fold on a hold-out of a tenth of its training part.",
    "The selected model is trained three times again, each with a tenth held out for early stopping; the mean of the "
    "three test scores is that of the fold.",
    "Kernels select refinement steps and penalty on such a hold-out, once for each of the three seeds, and are fitted "
    "to the whole training part.",
    "Early stopping follows the validation accuracy; the paper also tries the loss. The baseline stops after 1,000 "
    "epochs at the latest, 5,000 in the released code.",
    paper="Errica et al. 2020, A Fair Comparison of Graph Neural Networks (arXiv:1912.09893)",
    seeds=(0, 1, 2),
    splits=10,
    exceptions={"deep-multisets": {"schedule": "constant", "optimizer.lr": 1e-3}},
    kernel_rules=KernelFoldRules(fold_seed=FOLD_SEED, refit=True),
)
