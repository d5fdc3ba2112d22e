"""What every test gets: a cache of its own, no network, one compute thread, and the raw-data mirror if it asks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from tests.tally import Tally

# Read before any test runs, because the fixture below hides it from tests that do not ask for it.
_CONFIGURED = os.environ.get("GRAPHTRIAL_MIRROR")
_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"

torch.set_num_threads(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--large", action="store_true", help="also prepare the large datasets: minutes and gigabytes")
    parser.addoption("--table", type=Path, help="write a table of what the long form went through to this file")
    parser.addoption("--long", action="store_true", help="the long form of tests of faults and bad input: an hour")


_TALLY = Tally()


@pytest.fixture(scope="session")
def tally() -> Tally:
    """What tests of faults and bad input went through."""
    return _TALLY


def pytest_sessionfinish(session: pytest.Session) -> None:
    path = session.config.getoption("--table")
    if path is not None:
        _TALLY.write(path, session.testsfailed)


def raw_data() -> Path | None:
    """Return the folder of raw data files on this machine, if there is one."""
    folder = Path(_CONFIGURED) if _CONFIGURED else _BESIDE
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def session_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache folder shared by all tests of the session, so that a dataset is prepared once."""
    return tmp_path_factory.mktemp("graphtrial-home")


@pytest.fixture(autouse=True)
def clean_environment(session_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep every test away from the user's cache, mirror and network."""
    monkeypatch.setenv("GRAPHTRIAL_HOME", str(session_home))
    monkeypatch.setenv("GRAPHTRIAL_OFFLINE", "1")
    monkeypatch.delenv("GRAPHTRIAL_MIRROR", raising=False)


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


@pytest.fixture
def long(request: pytest.FixtureRequest) -> None:
    """Skip a test that is part of the long form alone."""
    if not request.config.getoption("--long"):
        pytest.skip("part of the long form: make faults")
