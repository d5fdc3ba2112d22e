"""Downloads: https only, certificates checked, capped, retried when the fault may pass, verified before renamed."""

from __future__ import annotations

import http.client
import logging
import os
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.files import atomic_path
from graphtrial.core.progress import progress

logger = logging.getLogger(__name__)

TIMEOUT_SECONDS = 30.0
DELAYS_SECONDS = (1.0, 3.0, 9.0)
PASSING_CODES = frozenset({408, 425, 429, 500, 502, 503, 504})
CHUNK_BYTES = 1 << 18


class _PassingError(Exception):
    """A fault that may be gone at the next attempt."""


class HttpsOnly(urllib.request.HTTPRedirectHandler):
    """Follows redirects, but never away from https."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        _require_https(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def download(
    url: str, target: Path, *, size: int | None, limit_bytes: int, advice: str, check: Callable[[Path], None]
) -> None:
    """Fetch `url` to `target`, which appears only after `check` accepted the bytes; `advice` ends every message."""
    if os.environ.get("GRAPHTRIAL_OFFLINE", "") not in ("", "0"):
        raise GraphTrialError(
            f"{target.name} is not on this machine and GRAPHTRIAL_OFFLINE forbids to download it: {advice}"
        )
    _require_https(url)
    for delay in (*DELAYS_SECONDS, None):
        try:
            with atomic_path(target) as temporary:
                _transfer(url, temporary, target.name, size, limit_bytes, advice)
                check(temporary)
            return
        except _PassingError as fault:
            if delay is None:
                raise GraphTrialError(
                    f"{target.name} could not be downloaded: {fault}; try again later, or {advice}"
                ) from fault
            logger.info("%s: %s; next attempt in %g seconds", target.name, fault, delay)
            time.sleep(delay)


def open_url(url: str) -> Any:
    """Open an https address with certificates checked."""
    context = ssl.create_default_context()
    opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context), HttpsOnly())
    request = urllib.request.Request(url, headers={"User-Agent": "graphtrial"})
    return opener.open(request, timeout=TIMEOUT_SECONDS)


def _transfer(url: str, temporary: Path, name: str, size: int | None, limit_bytes: int, advice: str) -> None:
    with _answer(url, name, advice) as answer, temporary.open("wb") as out:
        length = answer.headers.get("Content-Length")
        promised = int(length) if length and length.isdigit() else None
        limit = size if size is not None else limit_bytes
        done = 0
        with progress(f"downloading {name}", promised or size) as advance:
            while chunk := _read(answer):
                if not done and _looks_like_html(chunk):
                    raise GraphTrialError(f"{url} sent a web page instead of {name}: {advice}")
                done += len(chunk)
                if done > limit:
                    raise GraphTrialError(f"{url} sends more than the {limit} bytes {name} may have: {advice}")
                out.write(chunk)
                advance(len(chunk))
    if not done:
        raise _PassingError(f"{url} sent an empty file")
    expected = size if size is not None else promised
    if expected is not None and done < expected:
        raise _PassingError(f"{url} broke off after {done} of {expected} bytes")


def _answer(url: str, name: str, advice: str) -> Any:
    try:
        return open_url(url)
    except urllib.error.HTTPError as error:
        if error.code in PASSING_CODES:
            raise _PassingError(f"{url} answered {error.code} ({error.reason})") from error
        raise GraphTrialError(
            f"{url} answered {error.code} ({error.reason}), the file may have moved: {advice}"
        ) from error
    except urllib.error.URLError as error:
        if isinstance(error.reason, ssl.SSLCertVerificationError):
            raise GraphTrialError(
                f"the certificate of {url} is not valid, so {name} was not fetched: {advice}"
            ) from error
        raise _PassingError(f"{url} cannot be reached ({error.reason})") from error
    except (OSError, http.client.HTTPException) as error:
        raise _PassingError(f"{url} cannot be reached ({str(error) or type(error).__name__})") from error


def _read(answer: IO[bytes]) -> bytes:
    try:
        return answer.read(CHUNK_BYTES)
    except (OSError, http.client.HTTPException) as error:
        raise _PassingError(f"the connection broke ({str(error) or type(error).__name__})") from error


def _looks_like_html(start: bytes) -> bool:
    return start[:512].lstrip().lower().startswith((b"<!doctype html", b"<html"))


def _require_https(url: str) -> None:
    if not url.lower().startswith("https://"):
        raise GraphTrialError(f"refused to download from {url}: only https addresses are allowed")
