"""Speed of this machine relative to that of the shipped timings, measured in about ten seconds and cached."""

from __future__ import annotations

import math
import statistics
import time

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.hardware.speed import write_factor
from graphtrial.core.spec import canonical_json
from graphtrial.datasets import load
from graphtrial.shipped.timings import ShippedTiming, shipped_timings
from graphtrial.studies.plan import PlannedRow, plan
from graphtrial.studies.study_files import load_study

SECONDS = 10.0
STUDY = "bgnn-v5/table-10"
"""Study on CSL, whose graphs are generated, so that calibration needs no download."""
MODELS = 3


def calibrate(seconds: float = SECONDS) -> float:
    """Measure and cache the ratio of the time of an epoch here and on the machine of the shipped timings.

    The same epochs on CSL are timed again and again for so many seconds; of each model the fastest counts, which is
    disturbed least by other processes, and the median of the models is the ratio.
    """
    dataset = load("csl")
    pairs = _rows()
    specs = [next(row.resolve(dataset)) for row, _ in pairs]
    fastest = [math.inf] * len(pairs)
    end = time.monotonic() + seconds
    while True:
        for number, (row, _) in enumerate(pairs):
            fastest[number] = min(fastest[number], row.kind.measure_epoch(specs[number], dataset))
        if time.monotonic() > end:
            break
    timed = zip(fastest, (timing.epoch_seconds for _, timing in pairs), strict=True)
    ratios = [here / there for here, there in timed if there]
    factor = float(f"{statistics.median(ratios):.3g}")
    write_factor(factor)
    return factor


def _rows() -> list[tuple[PlannedRow, ShippedTiming]]:
    """Return rows of the study with shipped timings, those with the shortest epochs."""
    plain = (one for one in shipped_timings() if (one.dataset, one.encoding) == ("csl", "none"))
    timings = {(one.model, canonical_json(one.arguments)): one for one in plain}
    pairs = [
        (row, timing)
        for row in plan(load_study(STUDY))
        if row.encoding is None
        and (timing := timings.get((row.model.name, canonical_json(row.model.arguments))))
        and timing.epoch_seconds
    ]
    if not pairs:
        raise GraphTrialError("the shipped results have no timings on CSL to compare this machine with")
    return sorted(pairs, key=lambda pair: pair[1].epoch_seconds or 0.0)[:MODELS]
