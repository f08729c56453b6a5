"""What a program takes out of results, beside secrets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy import Agent, CodeRules, MemoryJournal, ResultRules, tool
from wieldy.sandbox import probe
from wieldy.testing import ScriptedModel, call, text

NAME = "Ada Lovelace"


def redact(words: str) -> str:
    return words.replace(NAME, "[a person]")


@tool(effect="read")
def customers() -> list[dict[str, Any]]:
    """All customers."""
    return [{"name": NAME, "orders": 3, NAME: [f"by {NAME}"]}]


def recorded(journal: MemoryJournal) -> str:
    return json.dumps([entry.data for run_id in journal.run_ids() for entry in journal.read(run_id)])


def words_in(value: Any) -> Iterator[str]:
    """Every text in it, names of members included."""
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from words_in(item)
        case dict():
            for name, item in value.items():
                yield name
                yield from words_in(item)


def test_what_is_redacted_is_neither_shown_nor_recorded() -> None:
    journal = MemoryJournal()
    model = ScriptedModel([[call("customers", {})], [text("done")]])
    agent = Agent(model, tools=[customers], journal=journal, results=ResultRules(redact=redact))
    (result,) = [message.result for message in agent.run_sync("?").messages if message.result]
    assert result.structured_content == [{"name": "[a person]", "orders": 3, "[a person]": ["by [a person]"]}]
    assert NAME not in result.content
    assert NAME not in recorded(journal)


def test_where_redaction_fails_the_text_is_withheld() -> None:
    def broken(words: str) -> str:
        raise re.error("no such group")

    model = ScriptedModel([[call("customers", {})], [text("done")]])
    agent = Agent(model, tools=[customers], results=ResultRules(redact=broken))
    (result,) = [message.result for message in agent.run_sync("?").messages if message.result]
    assert "withheld" in result.content
    assert NAME not in json.dumps([result.content, result.structured_content])


def test_the_rest_of_a_long_result_is_redacted_too() -> None:
    @tool(effect="read")
    def book() -> str:
        """A long text."""
        return "word " * 10_000 + NAME + " word" * 10_000

    model = ScriptedModel(
        [
            [call("book", {}, id="c1")],
            [call("read_result", {"handle": "c1", "offset": 49_000, "length": 2_000})],
            [text("done")],
        ]
    )
    journal = MemoryJournal()
    agent = Agent(model, tools=[book], journal=journal, results=ResultRules(redact=redact))
    results = [message.result for message in agent.run_sync("?").messages if message.result]
    assert "[a person]" in results[1].content
    assert NAME not in recorded(journal)


def test_code_works_with_the_data_and_returns_what_is_redacted() -> None:
    tiers = probe()
    if not any(tier.works for tier in tiers):
        pytest.skip("; ".join(f"{tier.name}: {tier.reason}" for tier in tiers))
    code = "found = await customers()\n[len(found[0]['name']), found[0]['name']]"
    model = ScriptedModel([[call("python", {"code": code})], [text("done")]])
    agent = Agent(model, tools=[customers], actions="code", code=CodeRules(), results=ResultRules(redact=redact))
    (result,) = [message.result for message in agent.run_sync("?").messages if message.result]
    assert f'[{len(NAME)},"[a person]"]' in result.content


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_nothing_that_is_redacted_is_left_in_any_value(value: Any) -> None:
    @tool(effect="read")
    def fetch() -> Any:
        """Anything."""
        return {"value": value}

    model = ScriptedModel([[call("fetch", {})], [text("done")]])
    agent = Agent(model, tools=[fetch], results=ResultRules(redact=lambda words: re.sub(r"\w", "-", words)))
    (result,) = [message.result for message in agent.run_sync("?").messages if message.result]
    assert not any(re.search(r"\w", words) for words in words_in(result.structured_content))
