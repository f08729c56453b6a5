"""An answer counts for what was shown, and for nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from wieldy.core.approvals import Approval, ApprovalRequest, is_valid
from wieldy.core.json import canonical_json

texts = st.text(max_size=12)
times = st.none() | st.floats(min_value=0, max_value=1e12)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "run_id": texts,
    "call_id": texts,
    "tool_name": texts,
    "arguments": st.dictionaries(texts, values, max_size=4),
    "reason": texts,
    "expires": times,
}
requests = st.builds(ApprovalRequest, **FIELDS)
answers = st.sampled_from([lambda request: request.approve(by="anna"), lambda request: request.deny(by="anna")])

REQUEST = ApprovalRequest(
    run_id="r1", call_id="c1", tool_name="refund", arguments={"order": "17", "amount": 5}, reason="why", expires=100.0
)


@settings(deadline=None)
@given(requests, answers)
def test_an_answer_counts_for_the_request_that_was_shown(request: ApprovalRequest, answer: Any) -> None:
    assert is_valid(answer(request), request, now=-1)


@settings(deadline=None)
@given(requests, answers, st.data())
def test_any_other_run_call_tool_arguments_reason_or_expiry_is_another_request(
    request: ApprovalRequest, answer: Any, data: st.DataObject
) -> None:
    field = data.draw(st.sampled_from(sorted(FIELDS)))
    other = replace(request, **{field: data.draw(FIELDS[field])})
    assume(canonical_json(getattr(other, field)) != canonical_json(getattr(request, field)))
    assert not is_valid(answer(request), other, now=-1)


@settings(deadline=None)
@given(requests, answers, st.data())
def test_a_changed_value_inside_the_arguments_is_another_request(
    request: ApprovalRequest, answer: Any, data: st.DataObject
) -> None:
    assume(request.arguments)
    name = data.draw(st.sampled_from(sorted(request.arguments)))
    changed = data.draw(values)
    assume(canonical_json(changed) != canonical_json(request.arguments[name]))
    other = replace(request, arguments=request.arguments | {name: changed})
    assert not is_valid(answer(request), other, now=-1)


@settings(deadline=None)
@given(requests, st.floats(min_value=0, max_value=1e12), answers)
def test_an_answer_counts_until_its_time_is_over(request: ApprovalRequest, expires: float, answer: Any) -> None:
    request = replace(request, expires=expires)
    assert not is_valid(answer(request), request, now=expires)
    assert not is_valid(answer(request), request, now=expires + 1)
    assert is_valid(answer(request), request, now=expires - 1)


@settings(deadline=None)
@given(requests, requests)
def test_a_yes_to_one_call_is_none_to_another(one: ApprovalRequest, other: ApprovalRequest) -> None:
    assume(one.call_id != other.call_id)
    assert not is_valid(one.approve(by="anna"), other, now=-1)
    # Not even if somebody writes the other call's id into it.
    assert not is_valid(replace(one.approve(by="anna"), call_id=other.call_id), other, now=-1)


@settings(deadline=None)
@given(requests)
def test_the_digest_does_not_depend_on_the_order_of_arguments_or_on_a_journal(request: ApprovalRequest) -> None:
    turned = replace(request, arguments=dict(reversed(request.arguments.items())))
    read_back = replace(request, arguments=json.loads(json.dumps(request.arguments)))
    assert turned.digest == read_back.digest == request.digest


def test_a_whole_second_is_the_same_time_however_it_is_written() -> None:
    assert replace(REQUEST, expires=100).digest == REQUEST.digest


def test_one_and_true_and_one_as_text_are_different_arguments() -> None:
    digests = {replace(REQUEST, arguments={"amount": amount}).digest for amount in (1, True, "1", [1], None)}
    assert len(digests) == 5


def test_values_that_move_between_fields_give_another_digest() -> None:
    assert replace(REQUEST, run_id="r", call_id="1c1").digest != replace(REQUEST, run_id="r1", call_id="c1").digest


def test_a_time_that_is_no_number_is_over() -> None:
    request = replace(REQUEST, expires=float("nan"))
    assert not is_valid(request.approve(by="anna"), request, now=0)


def test_without_an_expiry_an_answer_counts_for_ever() -> None:
    request = replace(REQUEST, expires=None)
    assert is_valid(request.approve(by="anna"), request, now=1e18)


def test_what_is_approved_or_denied_says_who_and_why() -> None:
    assert REQUEST.approve(by="anna") == Approval(call_id="c1", digest=REQUEST.digest, is_granted=True, by="anna")
    assert REQUEST.deny(by="bob", reason="too much") == Approval(
        call_id="c1", digest=REQUEST.digest, is_granted=False, by="bob", reason="too much"
    )


@pytest.mark.parametrize("text", ["\ud800", "\x00", "\u202e", "x" * 100_000])
def test_odd_text_has_a_digest(text: str) -> None:
    request = replace(REQUEST, arguments={text: text}, reason=text)
    assert is_valid(request.approve(by="anna"), request, now=0)
