"""Which tests passed, by their names, as runners of tests say when they are asked to say much.

`unittest -v`, `pytest -v` and the Test Anything Protocol are read. What tested code writes stands among their words.
Law: where the runner comes to its end, no text makes a test that failed one that passed; it can at most make one count
as failed, or seem to have been run. Code that ends the runner itself can forge its whole report, which is not
recognised. Deliberately not here: running them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import combinations
from typing import Final

_UNITTEST: Final = re.compile(r"^\w+ \(([\w.]+)\)(?:\n(?!\w+ \([\w.]+\)).*)? \.\.\. ", re.MULTILINE)
"""A test has begun. What comes until the next one ends with the verdict; the test may have written before that."""
_UNITTEST_END: Final = re.compile(
    r"^={70}\n(?:FAIL|ERROR|UNEXPECTED SUCCESS): |^-{70}\nRan \d+ tests? in ", re.MULTILINE
)
_UNITTEST_RAN: Final = re.compile(r"^-{70}\nRan \d+ tests? in ", re.MULTILINE)
_UNITTEST_VERDICT: Final = re.compile(
    r"(skipped .*|expected failure|unexpected success|ok|FAIL|ERROR)[ \t]*$", re.MULTILINE
)
_UNITTEST_FAILED: Final = re.compile(
    r"^(?:FAIL|ERROR|UNEXPECTED SUCCESS): [\w.]+ \((?:unittest\.loader\._FailedTest\.)?([\w.]+)\)", re.MULTILINE
)
"""All that failed are named once more in the end: tests, and classes and modules that could not begin."""

_ID: Final = r"((?:(?!::).)+::[^\s\[]+(?:\[.*?\])?)"
_WORD: Final = r"(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)"
_PYTEST: Final = re.compile(rf"^(?=\S)(?:{_ID} {_WORD}\b|{_ID} )", re.MULTILINE)
_PYTEST_END: Final = re.compile(r"^=+ .+ =+$", re.MULTILINE)
_PYTEST_VERDICT: Final = re.compile(rf"{_WORD}(?: \(.*\))?(?:[ \t]+\[ *\d+%\])?[ \t]*$", re.MULTILINE)
_PYTEST_FAILED: Final = re.compile(rf"^(?:FAILED|ERROR) (?:{_ID}(?: - |$)|(.+?)(?: - |$))", re.MULTILINE)
"""The summary in the end: tests that failed, and files that could not be read."""

_TAP: Final = re.compile(r"(not ok|ok)(?: +\d+(?=\s|$))?(?= |$)")
_TAP_DIRECTIVE: Final = re.compile(r"(?:^|[ \t])#[ \t]*(?:skip|todo)", re.IGNORECASE)
_TAP_GIVEN_UP: Final = re.compile(r"^Bail out!", re.MULTILINE)
"""Source: https://testanything.org/tap-version-14-specification.html, test points, their directives, and giving up."""


def results_in(output: str) -> dict[str, bool]:
    """Whether each test passed, by its name. One that is told more than once has passed only if it did every time."""
    found = dict[str, bool]()
    for name, has_passed in (*_of_unittest(output), *_of_pytest(output), *_of_tap(output)):
        found[name] = found.get(name, True) and has_passed
    return found


def _of_unittest(output: str) -> Iterator[tuple[str, bool]]:
    has_ended = _UNITTEST_RAN.search(output) is not None
    failures = set(_UNITTEST_FAILED.findall(output))
    for each, end in _regions(output, _UNITTEST, _UNITTEST_END):
        verdicts = _UNITTEST_VERDICT.findall(output, each.end(), end)
        if verdicts:
            yield each[1], has_ended and verdicts[-1] == "ok" and not _is_within(each[1], failures)
    for name in failures:
        yield name, False


def _is_within(name: str, failures: set[str]) -> bool:
    """Whether a test, its class or its module is among those; a module may be told by its last word only."""
    words = name.split(".")[:20]
    return any(".".join(words[first:last]) in failures for first, last in combinations(range(len(words) + 1), 2))


def _of_pytest(output: str) -> Iterator[tuple[str, bool]]:
    failures = {test or file for test, file in _PYTEST_FAILED.findall(output)}
    for each, end in _regions(output, _PYTEST, _PYTEST_END):
        name = each[1] or each[3]
        said = [word for word in (each[2], *_PYTEST_VERDICT.findall(output, each.end(), end)) if word]
        if said:
            yield name, said[-1] == "PASSED" and not {name, name.partition("::")[0]} & failures


def _of_tap(output: str) -> Iterator[tuple[str, bool]]:
    is_whole = _TAP_GIVEN_UP.search(output) is None
    for line in output.split("\n"):
        point = _TAP.match(line)
        if point is None:
            continue
        told = line[point.end() :].strip().removeprefix("- ").lstrip()
        directive = _TAP_DIRECTIVE.search(told)
        name = told if directive is None else told[: directive.start()].rstrip()
        if name and name != "-":
            yield re.sub(r"\\([#\\])", r"\1", name), is_whole and point[1] == "ok" and directive is None


def _regions(output: str, begin: re.Pattern[str], end: re.Pattern[str]) -> Iterator[tuple[re.Match[str], int]]:
    """Each test that has begun, and where what belongs to it ends."""
    begun = list(begin.finditer(output))
    ends = sorted([each.start() for each in (*begun, *end.finditer(output))] + [len(output)])
    for each in begun:
        yield each, ends[min(bisect_left(ends, each.end()), len(ends) - 1)]
