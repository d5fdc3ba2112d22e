"""Downloads against a real local server that misbehaves in every way we know of."""

from __future__ import annotations

import hashlib
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from graphtrial.core.errors import CorruptFileError, GraphTrialError
from graphtrial.io import download as module
from graphtrial.io.sources import File, fetch

GOOD = bytes(range(256)) * 2000


class Server:
    """Answers each request with the next of `script`: (status, headers, body); the last one is repeated."""

    def __init__(self) -> None:
        self.script: list[tuple[int, dict[str, str], bytes]] = []
        self.requests = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status, headers, body = outer.script[min(outer.requests, len(outer.script) - 1)]
                outer.requests += 1
                self.send_response(status)
                for key, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(key, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self.httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)


@pytest.fixture
def server(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A local server that stands for every https address; only the encryption is left out."""
    built = Server()
    threading.Thread(target=built.httpd.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    address = f"http://127.0.0.1:{built.httpd.server_port}/"
    monkeypatch.setattr(module, "open_url", lambda url: urllib.request.urlopen(address, timeout=2))
    monkeypatch.setattr(module, "DELAYS_SECONDS", (0.0, 0.0))
    monkeypatch.delenv("GRAPHTRIAL_OFFLINE")
    yield built
    built.httpd.shutdown()
    built.httpd.server_close()


def a_file(content: bytes = GOOD, **changes: Any) -> File:
    facts = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content), **changes}
    return File("fam/data.zip", url="https://example.invalid/data.zip", **facts)


def left_behind(home: Path) -> list[str]:
    return sorted(p.name for p in (home / "raw").rglob("*") if p.is_file() and not p.name.endswith(".lock"))


def test_intact_file_is_downloaded(server: Server, own_home: Path) -> None:
    server.script = [(200, {}, GOOD)]
    assert fetch(a_file()).read_bytes() == GOOD
    assert fetch(a_file()).read_bytes() == GOOD
    assert server.requests == 1
    assert left_behind(own_home) == ["data.zip"]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_transient_error_is_retried(server: Server, status: int) -> None:
    server.script = [(status, {}, b"wait"), (200, {}, GOOD)]
    assert fetch(a_file()).read_bytes() == GOOD
    assert server.requests == 2


def test_truncated_transfer_is_retried(server: Server) -> None:
    server.script = [(200, {"Content-Length": str(len(GOOD))}, GOOD[:1000]), (200, {}, GOOD)]
    assert fetch(a_file()).read_bytes() == GOOD


@pytest.mark.parametrize(
    ("response", "message", "requests"),
    [
        (
            (404, {}, b""),
            r"answered 404 .*may have moved: fetch it from https://example.invalid/data.zip, put it into",
            1,
        ),
        ((403, {}, b""), "answered 403", 1),
        ((503, {}, b""), "answered 503 .*try again later, or fetch it from", 3),
        ((200, {}, b""), "sent an empty file", 3),
        ((200, {}, GOOD[:100]), "broke off after 100 of 512000 bytes", 3),
        ((200, {}, b"\n<!DOCTYPE html><html>quota</html>"), "sent a web page instead of data.zip", 1),
        ((200, {}, GOOD + b"x"), "sends more than the 512000 bytes", 1),
    ],
)
def test_permanent_errors_raise(
    server: Server, own_home: Path, response: tuple[int, dict[str, str], bytes], message: str, requests: int
) -> None:
    server.script = [response]
    with pytest.raises(GraphTrialError, match=message) as caught:
        fetch(a_file())
    assert "\n" not in str(caught.value)
    assert server.requests == requests
    assert left_behind(own_home) == []


def test_file_with_wrong_checksum_is_not_renamed(server: Server, own_home: Path) -> None:
    server.script = [(200, {}, bytes(reversed(GOOD)))]
    with pytest.raises(CorruptFileError, match=r"data.zip has sha256 .*moved to .*data.zip.corrupt"):
        fetch(a_file())
    assert left_behind(own_home) == ["data.zip.corrupt"]


def test_download_of_unknown_size_is_limited(server: Server) -> None:
    server.script = [(200, {}, GOOD)]
    with pytest.raises(GraphTrialError, match="more than the 1000 bytes"):
        fetch(a_file(size=None, limit_bytes=1000))


def test_only_https_is_allowed(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRAPHTRIAL_OFFLINE")
    for url in ("http://example.invalid/x", "file:///etc/passwd", "ftp://example.invalid/x"):
        with pytest.raises(GraphTrialError, match="only https"):
            fetch(File("fam/x", url=url))


def test_redirect_from_https_to_http_raises() -> None:
    request = urllib.request.Request("https://example.invalid/x")
    with pytest.raises(GraphTrialError, match="only https"):
        module.HttpsOnly().redirect_request(request, None, 302, "Found", {}, "http://example.invalid/x")
    followed = module.HttpsOnly().redirect_request(request, None, 302, "Found", {}, "https://example.invalid/y")
    assert followed is not None


def test_missing_network_is_transient(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(url: str) -> Any:
        raise urllib.error.URLError(ConnectionRefusedError("refused"))

    monkeypatch.delenv("GRAPHTRIAL_OFFLINE")
    monkeypatch.setattr(module, "open_url", refuse)
    monkeypatch.setattr(module, "DELAYS_SECONDS", (0.0,))
    with pytest.raises(GraphTrialError, match="cannot be reached"):
        fetch(a_file())
