"""What is written to a journal is read back as it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.calls import InvalidToolCall, ToolCall, ToolResult
from wieldy.core.influence import Influence
from wieldy.core.limits import Usage
from wieldy.core.messages import ImagePart, Message, ReasoningPart, TextPart
from wieldy.core.ports import Draft
from wieldy.run.journal import MemoryJournal
from wieldy.run.records import (
    message_from_json,
    message_to_json,
    result_from_json,
    result_to_json,
    usage_from_json,
    usage_to_json,
)

words = st.text(max_size=5)
maybe = st.none() | words
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=4,
)
results = st.builds(
    ToolResult,
    tool_call_id=words,
    content=words,
    structured_content=json_values,
    is_error=st.booleans(),
    layer=st.sampled_from([None, "model", "harness", "policy", "provider", "tool"]),
    trust=st.sampled_from(["trusted", "untrusted"]),
    tainted_by=st.lists(words, max_size=2).map(tuple),
)
sources = st.lists(words, max_size=2).map(tuple)
influences = st.none() | st.builds(
    Influence, arguments=st.dictionaries(words, sources, max_size=2), decided_by=sources, survived=sources
)
parts = st.one_of(
    st.builds(TextPart, text=words),
    st.builds(ReasoningPart, text=words, signature=maybe),
    st.builds(ImagePart, url=words),
    st.builds(
        ToolCall,
        id=words,
        name=words,
        arguments=st.dictionaries(words, json_values, max_size=2),
        provider_id=maybe,
        forced=st.lists(words, max_size=2).map(tuple),
        influence=influences,
    ),
    st.builds(InvalidToolCall, id=words, name=maybe, text=words, error=words, provider_id=maybe, influence=influences),
    results,
)
messages = st.builds(
    Message,
    role=st.sampled_from(["system", "user", "assistant", "tool"]),
    parts=st.lists(parts, max_size=4).map(tuple),
)


@given(message=messages)
def test_a_message_comes_back_from_a_journal_as_it_was(message: Message) -> None:
    entry = MemoryJournal().append("r", Draft("k", message_to_json(message)))[0]
    assert message_from_json(entry.data) == message


@given(result=results, counts=st.tuples(*[st.integers(0)] * 4))
def test_a_result_and_a_usage_come_back_from_a_journal_as_they_were(
    result: ToolResult, counts: tuple[int, int, int, int]
) -> None:
    usage = Usage(input_tokens=counts[0], output_tokens=counts[1], requests=counts[2], calls=counts[3])
    journal = MemoryJournal()
    assert result_from_json(journal.append("r", Draft("k", result_to_json(result)))[0].data) == result
    assert usage_from_json(journal.append("r", Draft("k", usage_to_json(usage)))[0].data) == usage


def test_what_is_no_message_is_refused() -> None:
    for data in ({}, {"role": "user"}, {"role": "user", "parts": [{"type": "smell"}]}, {"role": "user", "parts": [{}]}):
        with pytest.raises((KeyError, TypeError, ValueError)):
            message_from_json(data)  # type: ignore[arg-type]
