"""Chance from a seed: code draws the same numbers, identifiers and bytes, whoever asks for them in Python.

`os.urandom` is replaced, from which `secrets`, `uuid` and generators without a seed of their own draw; `random` and
numpy's global generator are seeded. Deliberately not covered: libraries that ask the kernel themselves (OpenSSL).
"""

from __future__ import annotations

import os
import random
import sys
import uuid
from typing import Any, cast

_REAL_URANDOM = os.urandom
_REAL_SEED = random.Random.seed
_REAL_UUID_TIME = cast("Any", uuid)._generate_time_safe


def seed_chance(seed: int | None) -> None:
    """From now on chance follows from the seed; with None it is real again."""
    if seed is None:
        _set_source(_REAL_URANDOM)
        random.seed()
        _seed_numpy(None)
        return
    drawn = random.Random(seed)
    _set_source(drawn.randbytes)
    random.seed(drawn.getrandbits(64))
    _seed_numpy(drawn.getrandbits(32))
    cast("Any", random).Random.seed = _seed_from_urandom
    known = cast("Any", uuid)  # its version 1 asks a library for time and machine
    known._generate_time_safe = None
    known._node = drawn.getrandbits(48) | 1 << 40
    known._last_timestamp = None


def _set_source(source: Any) -> None:
    os.urandom = source
    cast("Any", random).Random.seed = _REAL_SEED
    cast("Any", random)._urandom = source  # `SystemRandom`, and with it `secrets`
    cast("Any", uuid)._generate_time_safe = _REAL_UUID_TIME


def _seed_from_urandom(generator: random.Random, a: Any = None, version: int = 2) -> None:
    """A generator without a seed asks `os.urandom`, where the original asks the kernel."""
    _REAL_SEED(generator, os.urandom(32) if a is None else a, version)


def _seed_numpy(seed: int | None) -> None:
    numpy = cast("Any", sys.modules.get("numpy"))
    if numpy is not None:
        numpy.random.seed(seed)
