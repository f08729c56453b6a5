"""Good calls that stand in a text are found, in the form of whichever family, and nothing else is taken for one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.evals.verdicts.unread_calls import unread_call

SCHEMAS: dict[str, Any] = {
    "status": {
        "type": "object",
        "properties": {"id": {"type": "string"}},
        "required": ["id"],
        "additionalProperties": False,
    }
}
WORDS = [
    "<tool_call>",
    "</tool_call>",
    "[TOOL_CALLS]",
    "<function=status>",
    "<parameter=id>17</parameter>",
    '{"name": "status", "arguments": {"id": "17"}}',
    '{"name": "',
    "status",
    "}",
    "\n",
]
PIECES = st.lists(st.sampled_from(WORDS), max_size=8).map("".join)


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "status", "arguments": {"id": "17"}}\n</tool_call>',
        "<tool_call>\n<function=status>\n<parameter=id>\n17\n</parameter>\n</function>\n</tool_call>",
        '[TOOL_CALLS][{"name": "status", "arguments": {"id": "17"}}]',
        'One moment.\n<tool_call>{"name": "status", "arguments": {"id": "17"}}</tool_call>',
    ],
)
def test_a_good_call_between_a_family_s_marks_is_found(text: str) -> None:
    assert unread_call(text, SCHEMAS) == "status"
    assert unread_call(text.replace("status", "refund"), SCHEMAS) is None
    assert unread_call(text.replace("id", "number"), SCHEMAS) is None


@given(PIECES | st.text(max_size=60).map("<tool_call>{}".format))
def test_whatever_a_text_holds_it_is_a_good_call_of_what_is_offered_or_none(text: str) -> None:
    assert unread_call(text, SCHEMAS) in (None, "status")
    assert unread_call(text, {}) is None
