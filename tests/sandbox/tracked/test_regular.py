"""Regular expressions find what Python finds, in time that is bounded by text times pattern."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tracked_driving import WEB, done, failed, run

from wieldy.sandbox.tracked import Done, Reply, TrackedLimits
from wieldy.sandbox.tracked.limits import Meter
from wieldy.sandbox.tracked.matching import all_matches, match_at
from wieldy.sandbox.tracked.patterns import PatternError, read_pattern

atoms = st.sampled_from(
    ["a", "b", "A", ".", r"\d", r"\w", r"\S", "[ab]", "[^a]", "[a-c1-]", r"\.", "^", "$", r"\b", r"\A", r"\Z", ""]
)
quantifiers = st.sampled_from(["", "*", "+", "?", "{2}", "{1,2}", "*?", "+?", "??", "{,2}", "{1,}"])


def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    group = st.builds("({}{}){}".format, inner, inner, quantifiers)
    choice = st.builds("(?:{}|{}|{}){}".format, inner, inner, inner, quantifiers)
    return st.builds("{}{}".format, inner, inner) | group | choice


patterns = st.recursive(atoms, larger, max_leaves=8)
texts = st.text("aabbc1.-\nA", min_size=1, max_size=8)


def places_of(match: re.Match[str] | None) -> tuple[int, ...] | None:
    return None if match is None else tuple(place for pair in match.regs for place in pair)


@settings(max_examples=100, deadline=None)
@given(patterns, texts, st.sampled_from([0, 0, 2, 8, 16]))
def test_a_pattern_finds_what_python_finds_or_is_refused(pattern: str, text: str, flags: int) -> None:
    compiled = re.compile(pattern, flags)
    try:
        program = read_pattern(pattern, flags)
    except PatternError:
        return
    meter = Meter(TrackedLimits())
    assert match_at(program, text, 0, meter) == places_of(compiled.search(text))
    assert match_at(program, text, 0, meter, is_anchored=True) == places_of(compiled.match(text))
    whole = match_at(program, text, 0, meter, is_anchored=True, is_whole=True)
    assert whole == places_of(compiled.fullmatch(text))
    assert all_matches(program, text, meter) == [places_of(match) for match in compiled.finditer(text)]


@pytest.mark.parametrize(
    ("code", "value"),
    [
        (r"re.search(r'(\w+)@(?P<host>[\w.]+)', 'to: bob@x.org').group(1, 'host')", ["bob", "x.org"]),
        (r"re.search('a', 'b') is None", True),
        (r"re.findall(r'\d+', 'a1b22')", ["1", "22"]),
        (r"re.findall(r'(\w)(\d)?', 'a1b')", [["a", "1"], ["b", ""]]),
        (r"re.split(r',\s*', 'a, b,c', maxsplit=1)", ["a", "b,c"]),
        (r"re.split(r'(,)', 'a,b')", ["a", ",", "b"]),
        (r"re.sub(r'(?P<x>a)(b)', r'\2\g<x>-\\', 'abab', count=1)", "ba-\\ab"),
        (r"re.sub('x*', '-', 'abxd')", "-a-b--d-"),
        (r"[m.start() for m in re.finditer('a', 'aba')]", [0, 2]),
        (r"re.match('A+', 'aab', re.IGNORECASE).end()", 2),
        (r"re.fullmatch(r'(?i)[^a]', 'A') is None", True),
        (r"re.search('a|b', 'xb').groups()", []),
    ],
)
def test_code_uses_them_as_in_python(code: str, value: object) -> None:
    assert done(f"import re\n{code}").value == value


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a)\\1",
        "(?=a)",
        "(?<!a)",
        "(a*)*",
        "a**",
        "(a",
        "a)",
        "[a",
        "*a",
        "a{3,1}",
        r"\\q",
        "[b-a]",
        "(?#a)",
        "a{9}" * 9,
    ],
)
def test_what_would_need_backtracking_is_an_ordinary_error(pattern: str) -> None:
    if pattern.startswith("a{9}"):
        pattern = "(?:(?:(?:a{99}){99}){99}){99}"
    assert failed(f"import re\nre.search('{pattern}', 'a')").error == "ValueError"


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)+$", "(a|aa)+$", "(.+.+)+b", "([a-z]+[a-z]+)+[0-9]"])
def test_no_pattern_takes_exponential_time(pattern: str) -> None:
    assert done(f"import re\nre.search('{pattern}', 'a' * 40 + '!') is None").value is True


def test_a_long_text_ends_at_a_limit() -> None:
    assert failed("import re\nre.findall('(a|b)*c', 'ab' * 400_000)").error == "Limit"


def test_what_is_found_has_its_sources() -> None:
    code = "import re\nm = re.search('a(b)', web('q'))\nsend(m.group(1), len(re.findall('x', web('q'))))"
    calls, end = run(code, answer=lambda call: Reply(value="ab", sources=WEB))
    assert isinstance(end, Done)
    assert calls[-1].sources == {"to": WEB, "body": WEB}
