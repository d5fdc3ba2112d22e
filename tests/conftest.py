"""Fixtures of all tests: session cache, no network, one compute thread, raw data on request."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Before anything that computes is imported: as many processes as cores run the tests, each with one thread.
for _library in ("OMP", "MKL", "OPENBLAS", "NUMBA"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"
os.environ.pop("COLUMNS", None)  # pytest-xdist sets it; outputs are compared at one width

if not any(word.startswith("--device") for word in sys.argv):
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # the tests of bits are tests of the CPU

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402
from tests.helpers import durations, prepared, pretend  # noqa: E402
from tests.helpers.tally import Tally  # noqa: E402

from graphtrial.core.plugins import permissions  # noqa: E402
from graphtrial.ops.portable import portable_path  # noqa: E402

settings.register_profile("patient", deadline=None)  # a busy machine is no failure
settings.load_profile("patient")

# Read before any test runs, because the fixture below hides it from tests that do not ask for it.
_CONFIGURED = os.environ.get("GRAPHTRIAL_MIRROR")
_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--large", action="store_true", help="also prepare the large datasets: minutes and gigabytes")
    parser.addoption("--fuzz-seconds", type=float, default=600, help="how long the long form tries command lines")
    parser.addoption("--table", type=Path, help="write a table of what the long form went through to this file")
    parser.addoption("--write-durations", action="store_true", help="rewrite tests/durations.json")
    parser.addoption("--device", help="run the tests of the fake device on a real one: cuda or mps")
    parser.addoption("--portable", action="store_true", help="force the portable path of the operators on the CPU")
    parser.addoption("--long", action="store_true", help="the long form: all combinations, many faults; half an hour")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Freeze collected tests and modules, so that the garbage collector skips them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    pretend.REAL = config.getoption("--device")


@pytest.fixture(autouse=True)
def chosen_path(request: pytest.FixtureRequest) -> Iterator[None]:
    """Force the portable path with `--portable`, but for tests of the compiled kernels themselves."""
    of_kernels = request.node.get_closest_marker("kernels") is not None
    with portable_path(request.config.getoption("--portable") and not of_kernels):
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect long tests, mark slow ones and those with raw data, and schedule the slowest first."""
    if not config.getoption("--long"):
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("long")])
        items[:] = [item for item in items if not item.get_closest_marker("long")]
    seconds = {name: taken for name, taken in durations.read().items() if taken >= durations.SLOW}
    for item in items:
        if "mirror" in getattr(item, "fixturenames", ()) or durations.function(item.nodeid) in seconds:
            item.add_marker("slow")
    if "PYTEST_XDIST_WORKER" in os.environ:  # so that no process ends with one of them
        items.sort(key=lambda item: _start(item, seconds))


def _start(item: pytest.Item, seconds: dict[str, float]) -> tuple[bool, float]:
    """Return the sort key of a test: slowest first."""
    return item.get_closest_marker("slow") is None, -seconds.get(durations.function(item.nodeid), 0.0)


_DURATIONS = durations.Durations()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Measure every test."""
    with _DURATIONS.measured(item.nodeid, getattr(item, "fixturenames", ())):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> Iterator[None]:
    """Measure what a file's tests share."""
    if fixturedef.scope != "module":
        return (yield)
    with _DURATIONS.measured_fixture(request.node.nodeid, fixturedef.argname):
        return (yield)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from tests.helpers.sharing import Sharing

    return Sharing(config, log)


_TALLY = Tally()


@pytest.fixture(scope="session")
def tally() -> Tally:
    """Counts of injected faults and malformed inputs."""
    return _TALLY


def pytest_sessionfinish(session: pytest.Session) -> None:
    config, output = session.config, getattr(session.config, "workeroutput", None)
    if output is not None:  # this is one of several processes; the first one writes
        output["tally"] = [[*line, times] for line, times in _TALLY.lines.items()]
        output["durations"] = _DURATIONS.totals()
        return
    if config.getoption("--table") is not None:
        _TALLY.write(config.getoption("--table"), session.testsfailed)
    if config.getoption("--write-durations"):
        _DURATIONS.write()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Add the counts of a worker process."""
    output = getattr(node, "workeroutput", {})
    for *line, times in output.get("tally", ()):
        _TALLY.add(*line, times=times)
    for name, seconds in output.get("durations", {}).items():
        _DURATIONS.add(name, seconds)


def raw_data() -> Path | None:
    """Return the folder of raw data files on this machine, if there is one."""
    folder = Path(_CONFIGURED) if _CONFIGURED else _BESIDE
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def session_home(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[Path]:
    """The cache folder shared by all tests and processes of the session, so that a dataset is prepared once."""
    base = tmp_path_factory.getbasetemp()
    home = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "graphtrial-home"
    cache = getattr(pytestconfig, "cache", None)
    if pytestconfig.getoption("--long") or cache is None:  # everything is prepared again
        home.mkdir(exist_ok=True)
        yield home
        return
    cached = cache.mkdir("prepared") / prepared.fingerprint(raw_data())
    prepared.restore(cached, home)
    yield home
    prepared.keep(home, cached)


@pytest.fixture(autouse=True)
def clean_environment(session_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Isolate every test from the user's cache, mirror and network, and reset allowed names."""
    monkeypatch.setenv("GRAPHTRIAL_HOME", str(session_home))
    monkeypatch.setenv("GRAPHTRIAL_OFFLINE", "1")
    monkeypatch.delenv("GRAPHTRIAL_MIRROR", raising=False)
    permissions.clear()


@pytest.fixture
def mirror(clean_environment: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The raw-data mirror, switched on; the test is skipped where there is none."""
    folder = raw_data()
    if folder is None:
        pytest.skip("no raw data on this machine: set GRAPHTRIAL_MIRROR to a folder that holds it")
    monkeypatch.setenv("GRAPHTRIAL_MIRROR", str(folder))
    return folder


@pytest.fixture
def own_home(clean_environment: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of this test alone."""
    home = tmp_path / "home"
    monkeypatch.setenv("GRAPHTRIAL_HOME", str(home))
    return home
