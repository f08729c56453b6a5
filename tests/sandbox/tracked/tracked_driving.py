"""Runs tracked code to its end, with tools that answer at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from wieldy.sandbox.tracked import (
    Answer,
    Calls,
    Done,
    Failed,
    Labelled,
    Reply,
    Tracked,
    TrackedCall,
    TrackedLimits,
)

WEB = frozenset({"web"})
TOOLS = {"send": ("to", "body"), "web": ("query",), "inbox": (), "fail": ()}


def run(
    code: str,
    *,
    answer: Callable[[TrackedCall], Answer],
    variables: Mapping[str, Labelled] | None = None,
    limits: TrackedLimits | None = None,
) -> tuple[list[TrackedCall], Done | Failed]:
    """The calls that the code made, and how it ended."""
    tracked = Tracked(code, tools=TOOLS, variables=variables or {}, limits=limits or TrackedLimits())
    calls: list[TrackedCall] = []
    step = tracked.start()
    while isinstance(step, Calls):
        calls += step.calls
        step = tracked.answer([answer(call) for call in step.calls])
    return calls, step


def done(code: str, **variables: object) -> Done:
    """How code ends that calls no tools and does not fail."""
    given = {name: Labelled(value=value) for name, value in variables.items()}
    _, end = run(code, answer=lambda call: Reply(value=None), variables=given)
    assert isinstance(end, Done), end
    return end


def failed(code: str, limits: TrackedLimits | None = None, **variables: object) -> Failed:
    """How code ends that calls no tools and fails."""
    given = {name: Labelled(value=value) for name, value in variables.items()}
    _, end = run(code, answer=lambda call: Reply(value=None), variables=given, limits=limits)
    assert isinstance(end, Failed), end
    return end
