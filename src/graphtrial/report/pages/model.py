"""One page per model."""

from __future__ import annotations

import inspect

from graphtrial.core.errors import GraphTrialError
from graphtrial.nn import MODELS
from graphtrial.published import published_results
from graphtrial.report.addresses import file_name, model_page
from graphtrial.report.published_table import published_grid
from graphtrial.report.row_page import RowPage
from graphtrial.report.row_table import row_grid
from graphtrial.report.site import Site

ROOT = "../"


def write(site: Site) -> None:
    """Write the pages of all models."""
    for name, rows in site.models.items():
        title = rows[0].model_title
        grid = row_grid(f"model-{file_name(name)}", f"{title} on all datasets", rows, ROOT, with_dataset=True)
        results = (row for row in published_results() if any(model.name == name for model in row.models))
        published = published_grid(
            site, f"model-{file_name(name)}-published", f"Published results of {title}", results, ROOT
        )
        site.page(
            model_page(name),
            "model.html",
            name=name,
            title=title,
            about=_about(name, rows),
            grid=site.table(grid),
            published=site.table(published) if published else None,
        )


def _about(name: str, rows: list[RowPage]) -> str:
    """Return the first paragraph of the docstring of a registered model or kernel."""
    if ":" in name:  # module:attribute: a name in a store never imports code
        return ""
    try:
        if rows[0].row.has_epochs:
            kind: object = MODELS.get(name)
        else:
            from graphtrial.kernels import KERNELS

            kind = KERNELS.get(name)
    except (GraphTrialError, ImportError):  # of a plug-in that is not loaded
        return ""
    return (inspect.getdoc(kind) or "").partition("\n\n")[0].replace("`", "")
