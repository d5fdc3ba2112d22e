# %% [markdown]
# # Your own data
#
# From graphs in memory to a verdict with error bars. The graphs here come from NetworkX; PyG data, JSON lines,
# Parquet, GraphML and edge lists work the same way ([import or generate data](../your-data.md)).
#
# Our question: does this network have two communities, or only as many edges as one that has? Both classes have the
# same expected number of edges, so counting them does not help.

# %%
import networkx as nx
import numpy as np

rng = np.random.default_rng(0)


def draw(has_communities: bool) -> nx.Graph:
    """Return two blocks of nodes, or a random graph of the same size and density."""
    half = int(rng.integers(10, 16))
    inside, between = (0.5, 0.06) if has_communities else (0.28, 0.28)
    graph = nx.stochastic_block_model(
        [half, half], [[inside, between], [between, inside]], seed=int(rng.integers(2**31))
    )
    return nx.Graph(graph.edges, communities=int(has_communities)) if graph.size() else draw(has_communities)


graphs = [draw(bool(i % 2)) for i in range(200)]
edges = [[graph.size() for graph in graphs if graph.graph["communities"] == label] for label in (0, 1)]
print(f"edges on average: {np.mean(edges[0]):.0f} without and {np.mean(edges[1]):.0f} with communities")

# %% [markdown]
# One call makes them a dataset. The split is stratified and drawn once, with a seed; every model gets the same folds.
# `protocol` names the training rules of runs that do not say otherwise.

# %%
import graphtrial as gt
from graphtrial.datasets import custom

dataset = custom.import_graphs(
    "communities",
    gt.from_networkx(graphs, target="communities"),
    split={"folds": 5, "seed": 0},
    protocol="bgnn-v5/csl",
    replace=True,
)
gt.load("communities")

# %% [markdown]
# Three candidates: a multilayer perceptron, which does not look at edges and tells us what chance is; GIN; and GIN
# with random-walk encodings, the probabilities to be back after 1, 2, ... 8 steps.

# %%
rules = {"stopping.max_epochs": 30, "batch_size": 10}
for model, encoding in (("mlp", "none"), ("gin", "none"), ("gin", "random-walk:8")):
    row = gt.run("communities", model, encoding=encoding, budget="10k", settings={"layers": 3}, rules=rules, seeds=2)
    print(f"{row.name:30} {row.scores('test')} % accuracy, {row.params:,} parameters")

# %% [markdown]
# The verdicts, fold by fold:

# %%
for a, b in (("gin/none", "mlp"), ("gin/random-walk:8", "gin/none")):
    for comparison in gt.compare(a, b):
        print(comparison.conclusion)

# %% [markdown]
# A graph kernel with a support vector machine is often a strong baseline for small graphs, and a matter of seconds.
# Kernels are scikit-learn estimators:

# %%
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

data = gt.load("communities").graphs
gram = gt.kernels.WeisfeilerLehman(h=3).fit_transform(data)
labels = np.asarray(data.columns["y"].values).ravel()
print(f"1-WL: {100 * cross_val_score(SVC(kernel='precomputed'), gram, labels, cv=5).mean():.1f} %")

# %% [markdown]
# (`graphtrial kernel` evaluates kernels as the papers do, with their parameters selected on validation folds.)
#
# `gt.report()` writes everything as a static site to send to a co-author: scores, learning curves, verdicts, and the
# command that reruns each row.

# %%
print(gt.report("site"))
custom.delete("communities")
