"""The law of tracking: what depends on a secret says so.

A program is run with different secrets. Wherever a call, its arguments, its being made, the program's value or what it
prints differs between two runs, the labels of both runs must name the secret's source. The one exception is failing:
a call that is not made because one run had failed before is marked by `survived`.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tracked_driving import WEB, run
from tracked_programs import Program

from wieldy.sandbox.tracked import Answer, Done, Failed, Labelled, Reply, TrackedCall, TrackedLimits

LIMITS = TrackedLimits(steps=60_000)
Run = tuple[list[TrackedCall], Done | Failed]


def run_with(code: str, secret: int) -> Run:
    """The world tells apart only what is free of the secret."""
    seen = 0

    def answer(call: TrackedCall) -> Answer:
        nonlocal seen
        if call.name == "web":
            return Reply(value=secret, sources=WEB)
        if "web" in call.decided_by.union(*call.sources.values()):
            return Reply(value=-1)
        seen += 1
        return Reply(value=seen)

    secrets = {"s": secret, "sl": list(range(secret)), "sd": {"k": secret}}
    variables = {name: Labelled(value=value, sources=WEB) for name, value in secrets.items()}
    return run(code, answer=answer, variables=variables, limits=LIMITS)


def check(code: str, secrets: tuple[int, int]) -> None:
    (one, end), (other, other_end) = runs = [run_with(code, secret) for secret in secrets]
    if any(isinstance(last, Failed) and last.error == "Limit" for _, last in runs):
        return
    clean, other_clean = ([call for call in calls if "web" not in call.decided_by] for calls in (one, other))
    for call, same in zip(clean, other_clean, strict=False):
        assert (call.name, call.arguments.keys()) == (same.name, same.arguments.keys())
        for name, value in call.arguments.items():
            assert value == same.arguments[name] or "web" in call.sources[name] & same.sources[name]
    shared = min(len(clean), len(other_clean))
    for call in clean[shared:]:
        assert isinstance(other_end, Failed)
        assert "web" in call.survived
    for call in other_clean[shared:]:
        assert isinstance(end, Failed)
        assert "web" in call.survived
    check_ends(end, other_end)


def check_ends(end: Done | Failed, other: Done | Failed) -> None:
    if isinstance(end, Done) and isinstance(other, Done):
        assert end.value == other.value or "web" in end.sources & other.sources
        assert end.stdout == other.stdout or "web" in end.stdout_sources & other.stdout_sources
    elif isinstance(end, Failed) and isinstance(other, Failed):
        same = (end.error, end.message, end.line) == (other.error, other.message, other.line)
        assert same or "web" in end.sources & other.sources
    else:
        assert "web" in (end if isinstance(end, Failed) else other).sources


programs = st.integers(0, 2**32)
secrets = st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(lambda pair: pair[0] != pair[1])


@settings(max_examples=40, deadline=None)
@given(programs, st.booleans(), st.integers(4, 9), secrets)
def test_what_depends_on_a_secret_says_so(seed: int, failing: bool, size: int, pair: tuple[int, int]) -> None:
    check(Program(seed, failing=failing).text(size), pair)


@settings(max_examples=40, deadline=None)
@given(programs, st.booleans(), st.integers(3, 6), secrets)
def test_so_it_does_where_several_go_on_at_once(seed: int, failing: bool, size: int, pair: tuple[int, int]) -> None:
    check(Program(seed, is_async=True, failing=failing).text(size), pair)


@settings(max_examples=10, deadline=None)
@given(programs, st.integers(4, 9), st.integers(0, 3))
def test_the_same_code_and_answers_take_the_same_steps(seed: int, size: int, secret: int) -> None:
    code = Program(seed).text(size)
    assert run_with(code, secret) == run_with(code, secret)
