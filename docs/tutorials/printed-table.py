# %% [markdown]
# # Reproducing a printed table
#
# Table 10 of *Benchmarking Graph Neural Networks* (Dwivedi et al. 2022, arXiv:2003.00982v5) says what Laplacian
# positional encodings are worth: without them, no message-passing model can tell circular skip links apart; with
# them, most do. The table is a study of the package, with the printed widths, depths, rules, folds and seeds.

# %%
import dataclasses

import graphtrial as gt

study = gt.load_study("bgnn-v5/table-10")
print(study.title)
print(study.paper)
print(f"{len(study.trials())} trials under {study.protocol}")

# %% [markdown]
# All of them take hours, mostly for the dense models. We run two rows in all five folds, with one of the four seeds.
# This is a selection, not a change: the trials are those of the full study, and `graphtrial study bgnn-v5/table-10`
# would find them finished.

# %%
entries = (gt.ModelEntry("gcn", encodings=("none",)), gt.ModelEntry("mlp", encodings=("laplacian:20,sign=absolute",)))
part = dataclasses.replace(study, rows=entries, seeds=1)
rows = gt.run_study(part)
for row in rows:
    printed = row.published
    print(f"{row.name:40} here {row.scores('test')}, printed {printed.test.text}: {row.verdict.label}")
    print(f"    {row.verdict.reason}")

# %% [markdown]
# *Reproduced* is a claim with a test behind it: two one-sided tests place the difference of the two means within a
# margin. Where the trials are too few it says *inconclusive*, and how many more would decide.
#
# The package ships our results for most rows of the table. Reading them trains nothing:

# %%
from graphtrial.results.select import rows_of
from graphtrial.shipped import shipped_store

for row in rows_of(shipped_store(), "bgnn-v5/table-10"):
    printed = row.published
    number = printed.test.text if printed else "-"
    print(f"{row.label:10} {row.encoding:28} {row.scores('test')!s:18} printed {number:18} {row.verdict.label}")

# %% [markdown]
# Where a row differs, the question is why. Released code and printed numbers have faults that change results; the
# known ones are in the [errata](../errata.md), with the option that reproduces each. `graphtrial reproduce ID
# --shipped` runs a shipped row again on your machine and compares every epoch.
#
# On the command line:
#
# ```text
# graphtrial study bgnn-v5/table-10 --dry-run
# graphtrial study bgnn-v5/table-10 --models gcn,mlp --seeds 1
# graphtrial export bgnn-v5/table-10 --shipped
# ```
#
# All studies: [published tables](../studies.md). How verdicts are reached: [statistics](../statistics.md).
