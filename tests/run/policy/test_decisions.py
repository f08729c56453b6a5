"""The two ports: a policy and an approver may be any function, and a wrong answer is no consent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from wieldy.core.approvals import Approval, ApprovalRequest
from wieldy.core.calls import ToolCall
from wieldy.core.errors import ApprovalError, UsageError
from wieldy.run.policy import Allow, Ask, Deny, Proposal, allow_all, consult, decide
from wieldy.tools import tool

pytestmark = pytest.mark.anyio


@tool
def refund(order: str) -> str:
    """Refund an order."""
    return order


PROPOSAL = Proposal(run_id="r1", call=ToolCall(id="c1", name="refund", arguments={"order": "17"}), tool=refund)
REQUEST = ApprovalRequest(
    run_id="r1", call_id="c1", tool_name="refund", arguments={"order": {"id": "17"}}, reason="why", expires=100.0
)


async def later(value: Any) -> Any:
    return value


@pytest.mark.parametrize("decision", [Allow(), Deny("no"), Ask("sure?", expires_after_s=60)])
async def test_a_policy_may_answer_at_once_or_later(decision: Any) -> None:
    assert await decide(lambda _: decision, PROPOSAL) == decision
    assert await decide(lambda _: later(decision), PROPOSAL) == decision


async def test_the_default_allows() -> None:
    assert await decide(allow_all, PROPOSAL) == Allow()


@pytest.mark.parametrize("answer", [True, False, None, "allow", Allow, Deny, ("allow",)])
async def test_what_is_no_decision_is_refused(answer: Any) -> None:
    with pytest.raises(UsageError, match="Expected the policy to answer"):
        await decide(lambda _: answer, PROPOSAL)
    with pytest.raises(UsageError, match="Expected the policy to answer"):
        await decide(lambda _: later(answer), PROPOSAL)


@pytest.mark.parametrize(
    "decide_on",
    [lambda request: request.approve(by="anna"), lambda request: request.deny(by="anna", reason="no"), lambda _: None],
)
async def test_an_approver_may_answer_at_once_or_later_or_not_at_all(decide_on: Callable[[Any], Any]) -> None:
    expected = decide_on(REQUEST)
    assert await consult(decide_on, REQUEST) == expected
    assert await consult(lambda request: later(decide_on(request)), REQUEST) == expected


@pytest.mark.parametrize("answer", [True, False, "yes", 1, Allow(), REQUEST, Approval, {"is_granted": True}])
async def test_what_is_no_answer_is_no_consent(answer: Any) -> None:
    with pytest.raises(UsageError, match="Expected the approver to answer"):
        await consult(lambda _: answer, REQUEST)


@pytest.mark.parametrize("is_granted", ["no", 1, None])
async def test_consent_is_true_and_nothing_that_counts_as_true(is_granted: Any) -> None:
    with pytest.raises(UsageError, match="Expected the approver to answer"):
        await consult(lambda request: replace(request.approve(by="anna"), is_granted=is_granted), REQUEST)


@pytest.mark.parametrize("by", ["", " ", None])
async def test_somebody_has_decided(by: Any) -> None:
    with pytest.raises(UsageError, match="who decided"):
        await consult(lambda request: request.approve(by=by), REQUEST)


@pytest.mark.parametrize(
    "change",
    [
        {"run_id": "r2"},
        {"call_id": "c2"},
        {"tool_name": "refund_all"},
        {"arguments": {"order": {"id": "18"}}},
        {"reason": "other"},
        {"expires": None},
    ],
)
async def test_an_answer_to_another_request_is_refused(change: dict[str, Any]) -> None:
    other = replace(REQUEST, **change)
    with pytest.raises(ApprovalError, match="the request's own approve"):
        await consult(lambda _: other.approve(by="anna"), REQUEST)


async def test_who_changes_what_they_were_shown_has_not_consented_to_the_change() -> None:
    def meddle(request: ApprovalRequest) -> Approval:
        request.arguments["order"]["id"] = "18"  # type: ignore[index,call-overload]
        return request.approve(by="anna")

    with pytest.raises(ApprovalError):
        await consult(meddle, REQUEST)
    assert REQUEST.arguments == {"order": {"id": "17"}}


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), 10**400, True, "60"])
def test_an_expiry_is_a_time(seconds: Any) -> None:
    with pytest.raises(UsageError, match="expires_after_s"):
        Ask("sure?", expires_after_s=seconds)


@pytest.mark.parametrize("decision", [Deny, Ask])
def test_a_reason_is_text(decision: Any) -> None:
    with pytest.raises(UsageError, match="expected the reason as text"):
        decision(5)
