"""Main module of the process that runs the loader of another library; see `process`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from graphtrial.core.errors import GraphTrialError, in_one_line
from graphtrial.core.files import write_text
from graphtrial.core.process import seed_everything
from graphtrial.datasets.custom.library.process import ERROR, GRAPHS
from graphtrial.graphs import GraphSet

OFFLINE = (
    "URLError",
    "ConnectionError",
    "gaierror",
    "Temporary failure",
    "HTTPError",
    "Max retries",
    "Timeout",
    "Cannot connect",
)


def load(request: dict[str, Any]) -> GraphSet:
    """Load the dataset of a request as a graph set."""
    if request["library"] == "ogb":
        from graphtrial.datasets.custom.library.ogb_loader import load_ogb

        return load_ogb(request["dataset"], request["root"], request["task"])
    from graphtrial.datasets.custom.library.pyg_loader import load_pyg

    if request["library"] == "lrgb":
        return load_pyg("LRGBDataset", (request["dataset"],), {}, request["root"], request["task"])
    return load_pyg(
        request["dataset"], tuple(request["positional"]), request["keywords"], request["root"], request["task"]
    )


def main(text: str) -> int:
    """Load, and save the arrays or the message of the error below the folder of the request."""
    request = json.loads(text)
    folder = Path(request["out"])
    seed_everything(0)  # some classes of PyG draw random graphs
    try:
        load(request).save(folder / GRAPHS)
    except GraphTrialError as error:
        message = str(error)
    except BaseException as error:  # noqa: BLE001 - the code of a library may raise anything
        message = in_one_line(error)
        if any(word in message for word in OFFLINE):
            message += f"; without internet, place the files that it downloads below {request['root']} yourself"
    else:
        return 0
    write_text(folder / ERROR, json.dumps({"message": message}))
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
