# %% [markdown]
# # A fair comparison of two layers
#
# Is GIN better than GCN? Most tables answer with two numbers from two papers: other splits, other widths, other
# numbers of epochs. Here both layers get the same data, the same folds, the same training rules and the same number
# of parameters, and the answer comes with an error bar.

# %%
import graphtrial as gt

dataset = gt.load("csl")
dataset

# %% [markdown]
# CSL has 150 circular skip-link graphs in 10 classes. All nodes look alike, so a message-passing model needs
# positional encodings: we give both models the first eight eigenvectors of the Laplacian.
#
# **Same number of parameters.** `budget` searches the widest model that fits. Two layers of the same *width* would
# differ in size, because GIN has a multilayer perceptron where GCN has one matrix:

# %%
for name in ("gcn", "gin"):
    wide = gt.build(name, dataset, encoding="laplacian:8", width=64, layers=2)
    fair = gt.build(name, dataset, encoding="laplacian:8", budget="10k", layers=2)
    print(
        f"{name}: {gt.count_parameters(wide):,} parameters at width 64, {gt.count_parameters(fair):,} within the budget"
    )

# %% [markdown]
# **Same rules.** Without a protocol of our own, that of the dataset's paper applies: optimizer, learning-rate
# schedule, early stopping, folds and seeds. It trains up to 1000 epochs; 40 are enough for a first look. The change
# is recorded, and the rows carry it as a badge wherever they are shown.

# %%
settings = {"layers": 2}
rules = {"stopping.max_epochs": 40}
for name in ("gcn", "gin"):
    row = gt.run("csl", name, encoding="laplacian:8", budget="10k", settings=settings, rules=rules, seeds=1)
    print(f"{row.label}: {row.scores('test')} over {len(row.trials)} folds, {row.params:,} parameters")

# %% [markdown]
# One of the two means is higher. Is the layer better?

# %%
(comparison,) = gt.compare("gin", "gcn")
print(comparison.conclusion)

# %% [markdown]
# The test permutes the two models within each fold. With one seed on five folds it has 2⁵ permutations, so that its
# smallest p-value is 0.06: no difference, however large, could be significant. A second seed changes that. Trials
# that have a result are not run again, so only the new ones are trained.

# %%
for name in ("gcn", "gin"):
    row = gt.run("csl", name, encoding="laplacian:8", budget="10k", settings=settings, rules=rules, seeds=2)
(comparison,) = gt.compare("gin", "gcn")
print(comparison.verdict)
print(comparison.conclusion)

# %% [markdown]
# That sentence is the result: which of the two is better, or that they are equivalent, or that this experiment cannot
# tell and how many more seeds could. The table behind it, as a data frame:

# %%
columns = ["label", "params", "test_mean", "test_std", "test_ci_low", "test_ci_high", "trials"]
table = gt.load_results().to_pandas()
table[[name for name in columns if name in table]].round(2)

# %% [markdown]
# The same on the command line:
#
# ```text
# graphtrial run csl gcn --encoding laplacian:8 --budget 10k --layers 2 --seeds 2 --max-epochs 40
# graphtrial run csl gin --encoding laplacian:8 --budget 10k --layers 2 --seeds 2 --max-epochs 40
# graphtrial compare gin gcn
# graphtrial export csl --format latex
# ```
#
# Next: [your own data](own-data.md). How the tests work: [statistics](../statistics.md). What else makes comparisons
# unfair: [traps](../traps.md).
