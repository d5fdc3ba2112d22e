"""Build node classification datasets like Wiki-CS (Mernyei and Cangea 2020) from Wikipedia dumps.

`Pipeline(stage_cache(), find_dumps(folder), ...)` has one cached stage per step: SQL tables, articles, categories,
labels, texts, links, features, export; `Pipeline.keep(name)` builds them all and registers the dataset. `CategoryRules`
and `TextRules` are its options, `read_mapping` reads the classes, and `write_wiki` writes dumps of a synthetic `Wiki`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphtrial.wikipedia.categories import EXCLUDED, PRUNED, CategoryRules
    from graphtrial.wikipedia.dumps.files import find_dumps
    from graphtrial.wikipedia.labels import read_mapping
    from graphtrial.wikipedia.pipeline import Pipeline
    from graphtrial.wikipedia.stages import StageResult, stage_cache
    from graphtrial.wikipedia.synthetic.wiki import Wiki
    from graphtrial.wikipedia.synthetic.xml import write_wiki
    from graphtrial.wikipedia.text.texts import TextRules

__all__ = [
    "EXCLUDED",
    "PRUNED",
    "CategoryRules",
    "Pipeline",
    "StageResult",
    "TextRules",
    "Wiki",
    "find_dumps",
    "read_mapping",
    "stage_cache",
    "write_wiki",
]
_MODULES = {
    **dict.fromkeys(("EXCLUDED", "PRUNED", "CategoryRules"), "categories"),
    **dict.fromkeys(("StageResult", "stage_cache"), "stages"),
    "Pipeline": "pipeline",
    "TextRules": "text.texts",
    "Wiki": "synthetic.wiki",
    "find_dumps": "dumps.files",
    "read_mapping": "labels",
    "write_wiki": "synthetic.xml",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:  # imported on first use: PyArrow, DuckDB and the compiled scanners take a moment
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
