"""Which tests passed, by their names, as runners of tests say when they are asked to say much.

`unittest -v`, `pytest -v` and the Test Anything Protocol are read. What tested code writes stands among their words.
Law: nothing that it writes makes a test that failed one that passed; it can at most make one count as failed, or seem
to have been run. Deliberately not here: running them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_UNITTEST: Final = re.compile(r"^\w+ \(([\w.]+)\)(?:\n(?!\w+ \([\w.]+\)).*)? \.\.\. ", re.MULTILINE)
"""A test has begun. What comes until the next one ends with the verdict; the test may have written before that."""
_UNITTEST_END: Final = re.compile(
    r"^={70}\n(?:FAIL|ERROR|UNEXPECTED SUCCESS): |^-{70}\nRan \d+ tests? in ", re.MULTILINE
)
_UNITTEST_VERDICT: Final = re.compile(
    r"(skipped .*|expected failure|unexpected success|ok|FAIL|ERROR)[ \t]*$", re.MULTILINE
)
_UNITTEST_FAILED: Final = re.compile(r"^(?:FAIL|ERROR|UNEXPECTED SUCCESS): \w+ \(([\w.]+)\)", re.MULTILINE)
"""All that failed are named once more in the end."""

_PYTEST: Final = re.compile(r"^(\S.*?::[^\s\[]+(?:\[.*?\])?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b", re.MULTILINE)
_TAP: Final = re.compile(
    r"^(not ok|ok)(?! +\d+ *$)(?: +\d+)?(?: +-)? +(\S.*?)[ \t]*(#[ \t]*(?:skip|todo)\b.*)?$",
    re.MULTILINE | re.IGNORECASE,
)
"""Source: https://testanything.org/tap-version-14-specification.html, test points and their directives."""


def results_in(output: str) -> dict[str, bool]:
    """Whether each test passed, by its name. One that is told more than once has passed only if it did every time."""
    found = dict[str, bool]()
    for name, has_passed in (*_of_unittest(output), *_of_pytest(output), *_of_tap(output)):
        found[name] = found.get(name, True) and has_passed
    return found


def _of_unittest(output: str) -> Iterator[tuple[str, bool]]:
    begun = list(_UNITTEST.finditer(output))
    ends = [each.start() for each in (*begun[1:], *_UNITTEST_END.finditer(output))]
    for each in begun:
        end = min((place for place in ends if place >= each.end()), default=len(output))
        verdicts = _UNITTEST_VERDICT.findall(output, each.end(), end)
        if verdicts:
            yield each[1], verdicts[-1] == "ok"
    for name in _UNITTEST_FAILED.findall(output):
        yield name, False


def _of_pytest(output: str) -> Iterator[tuple[str, bool]]:
    for name, said in _PYTEST.findall(output):
        yield name, said == "PASSED"


def _of_tap(output: str) -> Iterator[tuple[str, bool]]:
    for said, name, directive in _TAP.findall(output):
        yield re.sub(r"\\([#\\])", r"\1", name), said == "ok" and not directive
