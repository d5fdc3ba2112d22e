# %% [markdown]
# # Tuning under a budget
#
# A new model with fifty tried configurations beats a baseline with one: that says more about the fifty than about the
# model. A search here has a budget, the same for every model, it never sees the test part, and what it cost is a
# column of the result.

# %%
import graphtrial as gt

space = {
    "settings": {"layers": [1, 2, 4], "dropout": {"low": 0.0, "high": 0.3}},
    "rules": {"optimizer.lr": {"low": 1e-4, "high": 1e-2, "log": True}},
}
common = {
    "budget": "6trials",
    "params": "8k",
    "space": space,
    "encoding": "laplacian:8",
    "rules": {"stopping.max_epochs": 30},
    "splits": 1,
    "seeds": 4,
}

# %% [markdown]
# `budget` buys six trainings; it could be epochs (`3000epochs`) or hours (`4h`) too. `params` is the parameter
# budget, within which every configuration is as wide as its depth allows. The search uses the validation part of the
# first fold and seeds of its own; the chosen configuration is trained afresh with the four seeds of the protocol and
# tested once.

# %%
tuned = {name: gt.tune("csl", name, **common) for name in ("gcn", "gin")}

# %% [markdown]
# What was tried, and what it reached on the validation part:

# %%
for name, result in tuned.items():
    print(name)
    for number, tried in enumerate(result.search.to_dict()["configurations"]):
        chosen = "<- chosen" if number == result.search.winner else ""
        print(f"  {tried['val']:6.2f} % on validation, {tried['epochs']} epochs: {tried['point']} {chosen}")

# %% [markdown]
# The rows, with the cost of their search:

# %%
for name, result in tuned.items():
    row, cost = result.row, result.row.tuning
    print(f"{name}: test {row.scores('test')} with {row.params:,} parameters", end="; ")
    print(f"{cost.configurations} configurations tried, {cost.epochs} epochs")

# %% [markdown]
# And the comparison. Had one model been tuned with more configurations or epochs than the other, or had only one been
# tuned, it would carry a note.

# %%
for comparison in gt.compare("gin", "gcn"):
    print(comparison.conclusion)
    print(*comparison.notes or ["no notes: both searches cost the same"], sep="\n")

# %% [markdown]
# On the command line:
#
# ```text
# graphtrial tune csl gcn --budget 6trials --params 8k --encoding laplacian:8 --splits 1 --max-epochs 30
# graphtrial tune csl gin --budget 6trials --params 8k --encoding laplacian:8 --splits 1 --max-epochs 30
# graphtrial compare gin gcn
# ```
#
# Search spaces, successive halving, Optuna's sampler and studies that tune every row: [tuning](../tuning.md).
