"""What the command line asks about, and what it answers where nobody can be asked."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import pytest

from wieldy import tool
from wieldy.apps.cli.asking import ASKED_ABOUT, Approver, ask_about_effects
from wieldy.apps.cli.deciders import NOBODY
from wieldy.core.approvals import ApprovalRequest
from wieldy.core.calls import Effect, ToolCall
from wieldy.run.policy import Allow, Ask, Proposal

pytestmark = pytest.mark.anyio

REQUEST = ApprovalRequest(run_id="r1", call_id="c1", tool_name="refund", arguments={"order_id": "17"}, reason="why")


def do() -> str:
    """Do it."""
    return ""


def proposal(effect: Effect | None, *, is_tainted: bool = False, repeats_unknown: str | None = None) -> Proposal:
    made = tool(do) if effect is None else tool(effect=effect)(do)
    return Proposal(
        run_id="r1",
        call=ToolCall(id="c1", name="do", arguments={}),
        tool=made,
        is_tainted=is_tainted,
        repeats_unknown=repeats_unknown,
    )


@pytest.mark.parametrize("effect", ["read", "idempotent", "keyed", "unsafe", None])
async def test_only_effects_that_cannot_be_repeated_freely_are_asked_about(effect: Effect | None) -> None:
    decision = ask_about_effects(proposal(effect))

    assert isinstance(decision, Allow if effect in ("read", "idempotent") else Ask)
    assert ASKED_ABOUT | {"read", "idempotent"} == set(get_args(Effect))


async def test_what_its_author_calls_a_high_risk_is_asked_about_too() -> None:
    risky = replace(proposal("idempotent"), tool=tool(effect="idempotent", risk="high")(do))

    assert ask_about_effects(risky) == Ask("its author calls it a high risk")
    assert isinstance(ask_about_effects(replace(risky, tool=tool(effect="idempotent", risk="low")(do))), Allow)


async def test_the_reason_says_all_that_a_person_should_know() -> None:
    plain = ask_about_effects(proposal(None))
    doubtful = ask_about_effects(proposal("unsafe", is_tainted=True, repeats_unknown="c0"))

    assert plain == Ask("its effect is not declared, so it may change something")
    assert isinstance(doubtful, Ask)
    for words in ("declared as unsafe", "call c0 was the same and its outcome is unknown", "untrusted source"):
        assert words in doubtful.reason


@pytest.fixture
def approver(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Approver]:
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))  # no terminal
    return lambda *, pauses: Approver(asks=True, pauses=pauses, advice="Add --yes.", before_question=lambda: None)


async def test_where_nobody_sits_the_call_is_denied_and_the_person_is_told(
    approver: Callable[..., Approver], capsys: pytest.CaptureFixture[str]
) -> None:
    answer = await approver(pauses=False)(REQUEST)

    assert answer == REQUEST.deny(
        by=NOBODY, reason="a person would have to consent, and nobody can be asked in this run"
    )
    assert 'Denied refund(order_id="17"): why, and nobody can be asked' in capsys.readouterr().err


async def test_where_nobody_sits_and_the_run_may_pause_nobody_has_decided(
    approver: Callable[..., Approver], capsys: pytest.CaptureFixture[str]
) -> None:
    assert await approver(pauses=True)(REQUEST) is None
    assert capsys.readouterr().err == ""
