"""The smallest real model, led by questions: what it calls fits its tool's schema within every limit."""

from __future__ import annotations

from pathlib import Path

import pytest

from wieldy.connect.models.local import LocalModel
from wieldy.core.calls import ToolCall, ToolChoice, ToolDefinition
from wieldy.core.errors import BudgetError
from wieldy.core.messages import Message
from wieldy.core.ports import ModelReply, ModelRequest
from wieldy.run.guided import Guided
from wieldy.schema import CompiledSchema

pytestmark = [pytest.mark.anyio, pytest.mark.model]

BOOKING = ToolDefinition(
    name="book",
    description="Books a table.",
    input_schema={
        "type": "object",
        "properties": {
            "restaurant": {"type": "string"},
            "code": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{3}$"},
            "day": {"type": "string", "format": "date"},
            "guests": {"type": "integer", "minimum": 1, "maximum": 12},
            "seats": {"type": "array", "items": {"enum": ["window", "bar"]}, "minItems": 1},
        },
        "required": ["restaurant", "code", "day", "guests", "seats"],
        "additionalProperties": False,
    },
)


async def test_whatever_the_limit_a_demanded_call_is_whole_or_it_is_said_how_much_it_takes(
    smallest_model: Path,
) -> None:
    guided, schema = Guided(LocalModel(path=smallest_model)), CompiledSchema(BOOKING.input_schema)
    minimum, most_refused, were_forced = 0, 0, set[bool]()
    for limit in (1, 40, 50, 120):
        request = ModelRequest(
            messages=[Message.user("Book a table at the Blue Fig for seven, window seats, code AB-123, 2026-05-04.")],
            tools=[BOOKING],
            tool_choice=ToolChoice(mode="required"),
            max_output_tokens=limit,
        )
        try:
            (reply,) = [event async for event in guided.stream(request)]
        except BudgetError as error:
            minimum, most_refused = error.minimum, limit
            continue
        assert isinstance(reply, ModelReply)
        (call,) = reply.message.calls
        assert isinstance(call, ToolCall)
        assert schema.violations(call.arguments) == ()
        assert minimum <= reply.usage.output_tokens <= limit
        assert (reply.finish == "closed_by_budget") is bool(call.forced)
        were_forced.add(bool(call.forced))
    assert 0 < most_refused < minimum
    assert were_forced == {True, False}
