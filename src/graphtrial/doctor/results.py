"""Check a store: integrity of the file, of every result, and completeness of a study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.files import sha256_of
from graphtrial.doctor.caches import check_folder, check_leftovers
from graphtrial.doctor.clean import store_folders
from graphtrial.doctor.finding import Finding, some

if TYPE_CHECKING:
    from graphtrial.trials import Store, TrialRecord

AREA = "store"
_RESCUE = "`graphtrial store merge STORE --store rescued.sqlite` copies every trial whose digest matches"
_DISTRUST = f"do not trust these trials; {_RESCUE}"


def check_store(path: Path) -> Iterator[Finding]:
    """Check a store read-only: integrity, schema, digests of trials, epochs and weights."""
    from graphtrial.trials import Store

    yield from check_folder(AREA, path.parent, writable=not path.exists())
    if not path.exists() and not path.is_symlink():
        yield Finding(AREA, "file", "ok", f"{path} does not exist yet: no trials so far")
        return
    try:
        store = Store(path, read_only=True)
        yield _file(store)
        yield from _trials(store)
        yield from _searches(store)
    except GraphTrialError as error:
        yield Finding(
            AREA, "file", "wrong", str(error), "choose another with --store, or rescue its trials: " + _RESCUE
        )
    yield from check_leftovers(AREA, store_folders(path))


def check_study(path: Path, name: str) -> Iterator[Finding]:
    """Check whether each trial and each search of a study has a result in the store."""
    from graphtrial.studies import load_study
    from graphtrial.trials import Store
    from graphtrial.trials.store.searches import load_searches
    from graphtrial.tuning.of_study import finished_searches, planned_searches

    study = load_study(name)
    planned = [trial.id for trial in study.trials()]
    twice = [trial for trial, count in Counter(planned).items() if count > 1]
    records = {r.id: r for r in Store(path, read_only=True).trials(planned)} if path.exists() else {}
    missing = [trial for trial in dict.fromkeys(planned) if trial not in records]
    unfinished = [record.id for record in records.values() if not record.is_finished]
    done = len(records) - len(unfinished)
    result = f"{done} of {len(set(planned))} trials are finished, {len(unfinished)} started, {len(missing)} missing"
    complete = not missing and not unfinished
    advice = "" if complete else f"graphtrial study {name}"
    yield Finding("study", name, "ok" if complete else "note", result, advice)
    searches = len(planned_searches(study))
    if searches:
        tuned = finished_searches(study, load_searches(Store(path, read_only=True)) if path.exists() else [])
        advice = "" if tuned == searches else f"graphtrial study {name}"
        result = f"{tuned} of {searches} searches are finished"
        yield Finding("study", "searches", "note" if advice else "ok", result, advice)
    if twice:
        yield Finding("study", "plan", "note", f"{len(twice)} trials are planned twice and run once: {some(twice)}")


def _file(store: Store) -> Finding:
    wrong = store.integrity()
    result = f"{store.path} is damaged: {some(wrong)}" if wrong else f"{store.path} is sound"
    return Finding(AREA, "file", "wrong" if wrong else "ok", result, _RESCUE if wrong else "")


def _trials(store: Store) -> Iterator[Finding]:
    examined = list(store.examine())
    records = [record for _, record, _ in examined if record is not None]
    statuses = Counter(record.status for record in records)
    result = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items())) or "none yet"
    failed = statuses["failed"]
    advice = "`graphtrial status` lists them, `graphtrial show ID` shows the error" if failed else ""
    yield Finding(AREA, "trials", "note" if failed else "ok", result, advice)
    named = sorted({name for record in records for name in record.spec.names if ":" in name})
    if named:
        result = f"{len(named)} names of code outside graphtrial: {some(named)}"
        yield Finding(AREA, "code", "note", result, "no command imports it, unless --allow names it")
    damaged = [(trial, why) for trial, record, why in examined if record is None]
    for trial, why in damaged:
        yield Finding(AREA, f"trial {trial}", "wrong", why, _DISTRUST)
    if not damaged:
        try:
            store.trials()
        except GraphTrialError as error:
            yield Finding(AREA, "digests", "wrong", str(error), _RESCUE)
        else:
            yield Finding(AREA, "digests", "ok", f"those of {len(records)} trials and their epochs match")
    yield from _folders(records, store)


def _searches(store: Store) -> Iterator[Finding]:
    """Check the declarations of searches, and that their trials are there; those of a search may be paused."""
    from graphtrial.trials.store.searches import load_searches

    try:
        searches = load_searches(store)
    except GraphTrialError as error:
        yield Finding(AREA, "searches", "wrong", str(error), "the same `graphtrial tune` writes it again")
        return
    if not searches:
        return
    ids = {record.id for record in store.trials()}
    untested = [search.id for search in searches if not ids.issuperset(search.tests)]
    if untested:
        result = f"{len(untested)} of {len(searches)} searches test trials that are not there: {some(untested)}"
        yield Finding(AREA, "searches", "note", result, "the same `graphtrial tune` runs them")
    else:
        configurations = sum(len(search.configurations) for search in searches)
        result = f"{len(searches)} searches of {configurations} configurations, each with its tests"
        yield Finding(AREA, "searches", "ok", result)


def _folders(records: list[TrialRecord], store: Store) -> Iterator[Finding]:
    with_weights = [record for record in records if record.weights is not None]
    lost = [record.id for record in with_weights if not store.weights_file(record.id).is_file()]
    if lost:
        result = f"the weights of {len(lost)} trials are missing: {some(lost)}"
        advice = "their scores remain; `graphtrial store merge` copies weights from a store that has them"
        yield Finding(AREA, "weights", "note", result, advice)
    present = [record for record in with_weights if record.id not in lost]
    changed = [record.id for record in present if sha256_of(store.weights_file(record.id)) != record.weights]
    if changed:
        result = f"the weights of {len(changed)} trials were changed after they were written: {some(changed)}"
        yield Finding(AREA, "weights", "wrong", result, "delete them; `graphtrial store merge` copies them again")
    elif present:
        yield Finding(AREA, "weights", "ok", f"the digests of {len(present)} weights files match")
    finished = [record.id for record in records if record.is_finished]
    stale = [trial for trial in finished if any(store.trial_folder(trial).glob("*checkpoint.safetensors"))]
    if stale:
        advice = "left by a process that was killed right after its result; `graphtrial doctor --clean` removes them"
        yield Finding(AREA, "checkpoints", "note", f"{len(stale)} of finished trials", advice)
