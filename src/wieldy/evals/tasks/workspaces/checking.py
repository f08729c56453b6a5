"""What a check of a workspace found, and what is wrong with it.

Files that are protected are put back before the check: a changed one is a failure of its own, whatever the check says,
and so is a new file that hides a module of the standard library, by which a check could be made to say anything.
Deliberately not here: running the check (`commands`), and which tests passed (`runners`).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from importlib.machinery import all_suffixes
from typing import Final

EDITED: Final = "edited-tests"
HIDDEN: Final = "hidden-library"
NOT_RUN: Final = "check-not-run"
FAIL_TO_PASS: Final = "fail-to-pass"
PASS_TO_PASS: Final = "pass-to-pass"
CHECK: Final = "check"


def is_protected(name: str, patterns: Sequence[str]) -> bool:
    """Whether a file is one of those; `*` stands for anything, slashes too."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def restored(start: Mapping[str, bytes], now: Mapping[str, bytes], patterns: Sequence[str]) -> dict[str, bytes]:
    """The files as they are now, with the protected ones as they were: those that were added are gone again."""
    own = {name: content for name, content in now.items() if not is_protected(name, patterns)}
    return own | {name: content for name, content in start.items() if is_protected(name, patterns)}


def edited(start: Mapping[str, bytes], now: Mapping[str, bytes], patterns: Sequence[str]) -> list[str]:
    """Protected files that were changed or removed."""
    return sorted(name for name, content in start.items() if is_protected(name, patterns) and now.get(name) != content)


def hiding(start: Mapping[str, bytes], now: Mapping[str, bytes]) -> list[str]:
    """New files at the top that would be imported in place of modules of the standard library."""
    return sorted(name for name in now.keys() - start.keys() if _module_of(name) in sys.stdlib_module_names)


def _module_of(name: str) -> str:
    """The module that a file at the top is, or the package that it begins; empty where it is neither."""
    first, _, rest = name.partition("/")
    stem, dot, ending = (rest or first).partition(".")
    if f"{dot}{ending}" not in all_suffixes() or (rest and stem != "__init__"):
        return ""
    return first if rest else stem
