"""Normalise the transcribed tables of the papers into our names and settings: `python -m tools.normalize_published`.

`raw/*.csv` holds the tables as printed and the configurations as released. One module per group of papers says which
dataset, model, settings and encoding each printed row means, and why where that is not obvious; `tables.py` says how
the tables are laid out. The output, in `src/graphtrial/published`, is all that is read at run time:

- `results.jsonl`: one line per printed row;
- `configurations.jsonl`: one line per released configuration;
- `datasets.jsonl`: one line per published line of dataset statistics;
- `papers.jsonl`: one line per paper, with the settings by which its rows are distinguished;
- `tables.jsonl`: one line per table, with its layout.

Modern papers are lists instead of tables: `raw/modern_configs.csv` and `raw/modern_results.csv`, named by
`modern_papers.py` and `modern_settings.csv`; `python -m tools.normalize_published FOLDER` takes over newer ones.

A further paper is a set of raw CSV lines, a module with an `identify` function in `PAPERS`, and its layouts.
"""
