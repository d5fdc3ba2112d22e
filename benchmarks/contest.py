"""One contestant's process: `python -m benchmarks.contest MODULE:FUNCTION JSON-ARGUMENTS`, started by the referee."""

from __future__ import annotations

import importlib
import json
import sys

from benchmarks.protocol import serve

if __name__ == "__main__":
    module, _, function = sys.argv[1].partition(":")
    serve(getattr(importlib.import_module(module), function), json.loads(sys.argv[2]))
