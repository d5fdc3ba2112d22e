"""Mutations of bytes: corruption by disks, networks, editors and attackers."""

from __future__ import annotations

import random
import re

NUMBERS = [b"-1", b"0", b"1e309", b"nan", b"-inf", b"99999999999999999999999", b"2147483648", b"-9223372036854775808"]
NUMBERS += [b"0.5", b"1e-400", b"9" * 5000]
WORDS = [b"", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r\n", b"\n\n", b",", b";", b'"', b"'", b"[", b"]", b"{", b"}"]
WORDS += [
    b"(" * 200,
    b"[" * 3000,
    b"null",
    b"true",
    b"../",
    b"/etc/passwd",
    "☃é".encode(),
    b"<",
    b"&",
    b"%s",
    b"\\",
    b" " * 50,
]
DIGITS = re.compile(rb"-?\d+(?:\.\d+)?")


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Spoil some bytes in one to four ways."""
    for _ in range(1 if rng.random() < 0.6 else rng.randint(2, 4)):
        data = rng.choice(WAYS)(data, rng)
    return data[:1_000_000]


def _place(data: bytes, rng: random.Random) -> int:
    return rng.randrange(len(data) + 1)


def _flip(data: bytes, rng: random.Random) -> bytes:
    spoilt = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 8])):
        if spoilt:
            spoilt[rng.randrange(len(spoilt))] ^= 1 << rng.randrange(8)
    return bytes(spoilt)


def _byte(data: bytes, rng: random.Random) -> bytes:
    spoilt = bytearray(data)
    if spoilt:
        spoilt[rng.randrange(len(spoilt))] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
    return bytes(spoilt)


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: _place(data, rng)]


def _remove(data: bytes, rng: random.Random) -> bytes:
    start = _place(data, rng)
    return data[:start] + data[start + rng.choice([1, 2, 4, 16, 100]) :]


def _repeat(data: bytes, rng: random.Random) -> bytes:
    start = _place(data, rng)
    piece = data[start : start + rng.choice([1, 4, 16, 100])]
    return data[:start] + piece * rng.choice([2, 3, 50]) + data[start:]


def _insert(data: bytes, rng: random.Random) -> bytes:
    start = _place(data, rng)
    return data[:start] + rng.choice([*WORDS, rng.randbytes(rng.randint(1, 30))]) + data[start:]


def _number(data: bytes, rng: random.Random) -> bytes:
    actual = list(DIGITS.finditer(data[:200_000]))
    if not actual:
        return _flip(data, rng)
    match = rng.choice(actual)
    return data[: match.start()] + rng.choice(NUMBERS) + data[match.end() :]


def _size(data: bytes, rng: random.Random) -> bytes:
    """Put a large integer where a binary format may keep a size."""
    width = rng.choice([2, 4, 8])
    start = rng.randrange(max(1, len(data) - width))
    most = 2 ** (8 * width) - 1
    value = rng.choice([0, 1, most, most // 2 + 1, most // 4, min(most, 1 << 20)])
    return data[:start] + value.to_bytes(width, rng.choice(["little", "big"])) + data[start + width :]


def _swap(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]
    return b"\n".join(lines)


def _nothing_left(data: bytes, rng: random.Random) -> bytes:
    return rng.choice([b"", b"\n", b"\x00" * 100, b"<!doctype html><html>not found</html>", rng.randbytes(200)])


WAYS = [
    *(_flip, _byte, _cut, _remove, _repeat, _insert, _number, _number, _size, _swap),
    *(_flip, _byte, _insert, _nothing_left),
]
