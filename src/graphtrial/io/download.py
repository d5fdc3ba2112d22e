"""Downloads over https: verified certificates, size limit, retries of transient errors, checked before the rename."""

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
TRANSIENT_STATUS_CODES = frozenset({408, 425, 429, 500, 502, 503, 504})
CHUNK_BYTES = 1 << 18


class _TransientError(Exception):
    """An error worth a retry."""


class HttpsOnly(urllib.request.HTTPRedirectHandler):
    """Redirect handler that refuses to leave https."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        _require_https(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def download(
    url: str, target: Path, *, size: int | None, limit_bytes: int, advice: str, check: Callable[[Path], None]
) -> None:
    """Download `url` to `target` atomically, after `check` accepted the bytes; `advice` ends every error message."""
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
        except _TransientError as error:
            if delay is None:
                raise GraphTrialError(
                    f"{target.name} could not be downloaded: {error}; try again later, or {advice}"
                ) from error
            logger.info("%s: %s; next attempt in %g seconds", target.name, error, delay)
            time.sleep(delay)


def open_url(url: str) -> Any:
    """Open an https URL with certificate verification."""
    context = ssl.create_default_context()
    opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context), HttpsOnly())
    request = urllib.request.Request(url, headers={"User-Agent": "graphtrial"})
    return opener.open(request, timeout=TIMEOUT_SECONDS)


def _transfer(url: str, temporary: Path, name: str, size: int | None, limit_bytes: int, advice: str) -> None:
    with _open(url, name, advice) as response, temporary.open("wb") as out:
        length = response.headers.get("Content-Length")
        content_length = int(length) if length and length.isdigit() else None
        limit = size if size is not None else limit_bytes
        received = 0
        with progress(f"downloading {name}", content_length or size) as advance:
            while chunk := _read(response):
                if not received and _looks_like_html(chunk):
                    raise GraphTrialError(f"{url} sent a web page instead of {name}: {advice}")
                received += len(chunk)
                if received > limit:
                    raise GraphTrialError(f"{url} sends more than the {limit} bytes {name} may have: {advice}")
                out.write(chunk)
                advance(len(chunk))
    if not received:
        raise _TransientError(f"{url} sent an empty file")
    expected = size if size is not None else content_length
    if expected is not None and received < expected:
        raise _TransientError(f"{url} broke off after {received} of {expected} bytes")


def _open(url: str, name: str, advice: str) -> Any:
    try:
        return open_url(url)
    except urllib.error.HTTPError as error:
        if error.code in TRANSIENT_STATUS_CODES:
            raise _TransientError(f"{url} answered {error.code} ({error.reason})") from error
        raise GraphTrialError(
            f"{url} answered {error.code} ({error.reason}), the file may have moved: {advice}"
        ) from error
    except urllib.error.URLError as error:
        if isinstance(error.reason, ssl.SSLCertVerificationError):
            raise GraphTrialError(
                f"the certificate of {url} is not valid, so {name} was not fetched: {advice}"
            ) from error
        raise _TransientError(f"{url} cannot be reached ({error.reason})") from error
    except (OSError, http.client.HTTPException) as error:
        raise _TransientError(f"{url} cannot be reached ({str(error) or type(error).__name__})") from error


def _read(response: IO[bytes]) -> bytes:
    try:
        return response.read(CHUNK_BYTES)
    except (OSError, http.client.HTTPException) as error:
        raise _TransientError(f"the connection broke ({str(error) or type(error).__name__})") from error


def _looks_like_html(start: bytes) -> bool:
    return start[:512].lstrip().lower().startswith((b"<!doctype html", b"<html"))


def _require_https(url: str) -> None:
    if not url.lower().startswith("https://"):
        raise GraphTrialError(f"refused to download from {url}: only https addresses are allowed")
