"""A record does what a frozen dataclass with the same fields does."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.core import calls, context, events, limits, messages, ports
from wieldy.core.calls import ToolCall, ToolResult
from wieldy.core.context import Context
from wieldy.core.record import Record

kinds = sorted(
    {
        kind
        for module in (calls, context, events, limits, messages, ports)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Record) and kind is not Record
    },
    key=lambda kind: kind.__name__,
)
fields = st.fixed_dictionaries(
    {"tool_call_id": st.text(max_size=3), "content": st.text(max_size=3)},
    optional={"structured_content": st.integers(0, 3), "is_error": st.booleans(), "handle": st.none() | st.just("h")},
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Plain:
    tool_call_id: str
    content: str
    structured_content: Any = None
    parts: tuple[Any, ...] = ()
    is_error: bool = False
    layer: Any = None
    source: str | None = None
    trust: str = "trusted"
    tainted_by: tuple[str, ...] = ()
    handle: str | None = None
    failure: Any = None


def test_there_are_records_of_every_kind() -> None:
    assert {ToolCall, ToolResult, messages.Message, limits.Usage, ports.ModelReply, events.CallStarted} <= set(kinds)


@given(one=fields, other=fields)
def test_records_compare_copy_print_and_change_as_dataclasses_do(one: dict[str, Any], other: dict[str, Any]) -> None:
    record, plain = ToolResult(**one), Plain(**one)
    assert repr(record) == repr(plain).replace("Plain", "ToolResult", 1)
    assert dataclasses.asdict(record) == dataclasses.asdict(plain)
    assert (record == ToolResult(**other)) is (plain == Plain(**other))
    assert record != plain
    assert hash(record) == hash(ToolResult(**one))
    assert dataclasses.replace(record, **other) == ToolResult(**{**one, **other})
    assert pickle.loads(pickle.dumps(record)) == copy.copy(record) == copy.deepcopy(record) == record


def test_fields_are_what_a_dataclass_has() -> None:
    found, expected = dataclasses.fields(ToolResult), dataclasses.fields(Plain)
    assert [(each.name, each.default) for each in found] == [(each.name, each.default) for each in expected]


@pytest.mark.parametrize("kind", kinds)
def test_every_record_is_immutable_takes_fields_by_name_only_and_is_a_dataclass_to_those_who_ask(kind: Any) -> None:
    described = dataclasses.fields(kind)
    values = {each.name: "x" for each in described}
    record: Any = kind(**values)
    assert dataclasses.replace(record) == record
    with pytest.raises(AttributeError):
        setattr(record, described[0].name, "y")
    with pytest.raises((AttributeError, TypeError)):
        record.unknown = "y"
    with pytest.raises(TypeError):
        kind("x")
    with pytest.raises(TypeError):
        kind(**values, unknown="x")


def test_records_are_matched_by_their_fields() -> None:
    match ToolCall(id="c1", name="add", arguments={"a": 1}):
        case ToolCall(id=call_id, name="add"):
            assert call_id == "c1"
        case _:
            pytest.fail("expected a match")


def test_a_context_does_not_show_secrets() -> None:
    context = Context(run_id="r", call_id="c", tool_name="t", idempotency_key="k", secrets={"key": "hidden value"})
    assert "hidden value" not in repr(context)
    assert repr(context).startswith("Context(run_id='r', call_id='c', tool_name='t', idempotency_key='k', attempt=1")
    assert dict(dataclasses.replace(context, secrets={}).secrets) == {}
