"""Policies made of policies, and the ready sets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy.core.calls import ToolAnnotations, ToolCall
from wieldy.core.errors import UsageError
from wieldy.run.policy import (
    Allow,
    Ask,
    Decision,
    Deny,
    Policy,
    Proposal,
    Rule,
    Rules,
    ask_when_tainted,
    careful,
    decide,
    strictest,
)
from wieldy.tools import Tool, tool

pytestmark = pytest.mark.anyio


def act(order: str) -> str:
    """Act on an order."""
    return order


def did_it_happen(order: str) -> None:
    """Nothing is known about the order."""


BY_EFFECT: dict[str, Tool] = {
    "read": tool(effect="read")(act),
    "idempotent": tool(effect="idempotent")(act),
    "keyed": tool(effect="keyed")(act),
    "reconcile": tool(reconcile=did_it_happen)(act),
    "unsafe": tool(effect="unsafe")(act),
    "undeclared": tool(act),
}


def propose(which: Tool, *, is_tainted: bool = False) -> Proposal:
    call = ToolCall(id="c1", name=which.name, arguments={"order": "17"})
    return Proposal(run_id="r1", call=call, tool=which, is_tainted=is_tainted)


PROPOSAL = propose(BY_EFFECT["read"])
SEVERITY = {Allow: 0, Ask: 1, Deny: 2}

decisions: st.SearchStrategy[Decision] = st.sampled_from(
    [Allow(), Deny("no"), Deny("never"), Ask("a"), Ask("b", expires_after_s=60), Ask("a", expires_after_s=5)]
)


def saying(decision: Decision, *, later: bool) -> Policy:
    async def policy(proposal: Proposal) -> Decision:
        return decision

    return policy if later else lambda proposal: decision


@settings(deadline=None)
@given(st.lists(st.tuples(decisions, st.booleans()), min_size=1, max_size=4))
def test_the_strictest_of_several_decisions_is_taken(given_: list[tuple[Decision, bool]]) -> None:
    import anyio

    policies = [saying(decision, later=later) for decision, later in given_]
    taken = anyio.run(decide, strictest(*policies), PROPOSAL)
    each = [decision for decision, _ in given_]
    assert SEVERITY[type(taken)] == max(SEVERITY[type(decision)] for decision in each)
    if isinstance(taken, Deny):
        assert taken == next(decision for decision in each if isinstance(decision, Deny))
    if isinstance(taken, Ask):
        asks = [decision for decision in each if isinstance(decision, Ask)]
        assert all(ask.reason in taken.reason.split("; ") for ask in asks)
        times = [ask.expires_after_s for ask in asks if ask.expires_after_s is not None]
        assert taken.expires_after_s == (min(times) if times else None)


async def test_who_comes_after_a_denial_is_not_asked() -> None:
    asked: list[str] = []

    def note(proposal: Proposal) -> Decision:
        asked.append(proposal.call.name)
        return Allow()

    assert await decide(strictest(note, lambda _: Deny("no"), note), PROPOSAL) == Deny("no")
    assert asked == ["act"]


async def test_a_policy_inside_that_answers_nothing_is_an_error() -> None:
    with pytest.raises(UsageError, match="Expected the policy to answer"):
        await decide(strictest(lambda _: None), PROPOSAL)  # type: ignore[arg-type,return-value]


@pytest.mark.parametrize("policies", [(), (Allow(),), (None,), (careful(), "deny")])
def test_only_policies_are_put_together(policies: Any) -> None:
    with pytest.raises(UsageError, match="expected one policy or more"):
        strictest(*policies)


async def test_an_allowing_rule_does_not_reach_into_another_policy() -> None:
    own = Rules([Rule(Allow(), tools="act")])
    decision = await decide(strictest(own, ask_when_tainted()), propose(BY_EFFECT["keyed"], is_tainted=True))
    assert isinstance(decision, Ask)


@pytest.mark.parametrize("effect", BY_EFFECT)
def test_careful_asks_before_what_cannot_be_repeated_freely(effect: str) -> None:
    decision = careful(expires_after_s=60)(propose(BY_EFFECT[effect]))
    if effect in ("read", "idempotent"):
        assert decision == Allow()
    else:
        assert isinstance(decision, Ask)
        assert decision.expires_after_s == 60


@pytest.mark.parametrize("effect", BY_EFFECT)
def test_once_a_stranger_was_read_whatever_changes_something_is_asked_about(effect: str) -> None:
    assert ask_when_tainted()(propose(BY_EFFECT[effect])) == Allow()
    decision = ask_when_tainted(expires_after_s=60)(propose(BY_EFFECT[effect], is_tainted=True))
    if effect == "read":
        assert decision == Allow()
    else:
        assert isinstance(decision, Ask)
        assert decision.expires_after_s == 60


def test_a_read_that_is_destructive_or_of_high_risk_is_asked_about_too() -> None:
    read = BY_EFFECT["read"]
    destructive = replace(read, definition=replace(read.definition, annotations=ToolAnnotations(destructive=True)))
    for which in (destructive, replace(read, risk="high")):
        assert isinstance(ask_when_tainted()(propose(which, is_tainted=True)), Ask)
        assert ask_when_tainted()(propose(which)) == Allow()
    assert ask_when_tainted()(propose(replace(read, risk="medium"), is_tainted=True)) == Allow()
