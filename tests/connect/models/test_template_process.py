"""A chat template in a process of its own: it answers as it would here, and cannot take more than its limits."""

from __future__ import annotations

import gc
import sys
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy.connect.models.template_process import TemplateLimits, TemplateProcess, TemplateSource
from wieldy.core.calls import ToolCall, ToolDefinition, ToolResult
from wieldy.core.errors import ModelNotAvailableError, UsageError
from wieldy.core.messages import Message
from wieldy.formats import get
from wieldy.formats.templates import ChatTemplate

NOON = datetime(2026, 11, 30, 12)
HELLO = [Message.user("Hello")]
HERMES = (
    "{% if tools %}{{ '<|im_start|>system\\n' }}{% for tool in tools %}{{ tool | tojson }}{% endfor %}"
    "{{ '<|im_end|>\\n' }}{% endif %}"
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + (m.content or '') }}"
    '{% for c in m.tool_calls or [] %}{{ \'\\n<tool_call>\\n{"name": "\' + c.function.name + \'", "arguments": \' }}'
    "{{ c.function.arguments | tojson }}{{ '}\\n</tool_call>' }}{% endfor %}{{ '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
CONTROLS = ["<|im_start|>", "<|im_end|>"]
TIGHT = TemplateLimits(cpu_s=1, wall_s=20, memory_bytes=512 * 2**20, characters=100_000)


def source(text: str) -> TemplateSource:
    return TemplateSource(text=text, tokens={"eos_token": "<|im_end|>"}, control_tokens=CONTROLS)


@pytest.fixture(scope="module")
def hermes() -> TemplateProcess:
    return TemplateProcess(source(HERMES))


TEXTS = st.text(st.characters(codec="utf-8"), max_size=30)
SAID = st.lists(st.builds(Message.user, TEXTS) | st.builds(Message.assistant, TEXTS), min_size=1, max_size=4)


@settings(max_examples=30, deadline=None)
@given(messages=SAID, begun=TEXTS)
def test_it_writes_what_the_template_writes(hermes: TemplateProcess, messages: list[Message], begun: str) -> None:
    here = ChatTemplate(HERMES, tokens={"eos_token": "<|im_end|>"}, control_tokens=CONTROLS)
    assert hermes.render(messages, begun=begun, now=NOON) == here.render(messages, begun=begun, now=NOON)


def test_tools_calls_and_results_arrive(hermes: TemplateProcess) -> None:
    tool = ToolDefinition(name="look", description="Looks.", input_schema={"type": "object"})
    call = ToolCall(id="a", name="look", arguments={"at": ["größe", 1, None]})
    result = Message.tool(ToolResult(tool_call_id="a", content="seen \ud800"))
    text = hermes.render([*HELLO, Message.assistant(calls=[call]), result], tools=[tool], now=NOON)
    assert '"name": "look"' in text
    assert '{"at": ["größe", 1, null]}' in text
    assert "seen ?" in text


def test_the_format_that_it_writes_is_found(hermes: TemplateProcess) -> None:
    assert hermes.format_name() == "hermes"
    assert get(hermes.format_name()).name == "hermes"


def test_a_template_that_shows_no_calls_has_no_format_and_goes_on(hermes: TemplateProcess) -> None:
    plain = TemplateProcess(source("{% for m in messages %}{{ m.content }}{% endfor %}"))
    with pytest.raises(UsageError, match="shows no calls"):
        plain.format_name()
    assert plain.render(HELLO, now=NOON) == "Hello"


def test_what_the_template_refuses_is_said_and_it_goes_on() -> None:
    picky = TemplateProcess(source("{% if messages | length > 1 %}{{ raise_exception('One only.') }}{% endif %}fine"))
    for _ in range(2):
        with pytest.raises(UsageError, match=r"refuses these messages: One only\."):
            picky.render([*HELLO, *HELLO], now=NOON)
        assert picky.render(HELLO, now=NOON) == "fine"


@pytest.mark.parametrize("text", ["{% if %}", "{{ ", "{% nosuchtag %}"])
def test_what_is_no_template_makes_the_model_unusable(text: str) -> None:
    with pytest.raises(ModelNotAvailableError, match="chat template cannot be read"):
        TemplateProcess(source(text)).render(HELLO, now=NOON)


LOOP = "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}{% endfor %}" + (
    "{% endfor %}{% endfor %}"
)
BRANCHING = "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}"
HOSTILE: dict[str, tuple[str, str]] = {
    "a loop": (LOOP, "seconds"),
    "a macro that calls itself twice": (BRANCHING, "seconds"),
    "a number": ("{% set n = 10 ** (10 ** 10) %}", "seconds|memory"),
    "a constant, computed while it is compiled": ("{{ 'a' * 10 ** 11 }}", "memory"),
    "a text that doubles": (
        "{% set s = namespace(t='aa') %}{% for i in range(99) %}{% set s.t = s.t ~ s.t %}{% endfor %}",
        "memory",
    ),
    "padding": ("{{ 'a'.ljust(10 ** 11) }}", "memory"),
    "a filter": ("{{ ('a' | center(10 ** 11)) | length }}", "memory"),
}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can limit both processor time and memory")
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_template_is_stopped_and_not_run_again(kind: str) -> None:
    text, reason = HOSTILE[kind]
    process = TemplateProcess(source(text), limits=TIGHT)
    with pytest.raises(ModelNotAvailableError, match=reason):
        process.render(HELLO, now=NOON)
    with pytest.raises(ModelNotAvailableError, match=reason):
        process.format_name()


def test_a_text_that_is_longer_than_any_context_is_not_read() -> None:
    with pytest.raises(ModelNotAvailableError, match="wrote 200000 characters; at most 100000"):
        TemplateProcess(source("{{ 'a' * 200000 }}"), limits=TIGHT).render(HELLO, now=NOON)


def test_a_template_that_waits_for_ever_is_stopped_by_the_clock_where_nothing_else_would() -> None:
    limits = TemplateLimits(cpu_s=10_000, wall_s=2, memory_bytes=TIGHT.memory_bytes)
    with pytest.raises(ModelNotAvailableError, match="it ran for 2 seconds"):
        TemplateProcess(source(LOOP), limits=limits).render(HELLO, now=NOON)


def test_many_questions_have_the_limit_of_processor_time_each() -> None:
    busy = TemplateProcess(source("{% for a in range(99999) %}{% set b = a %}{% endfor %}fine"), limits=TIGHT)
    # Together they take longer than one may.
    assert {busy.render(HELLO, now=NOON) for _ in range(120)} == {"fine"}


def test_the_process_ends_with_the_model() -> None:
    template: Any = TemplateProcess(source(HERMES))
    template.render(HELLO, now=NOON)
    process = template._process
    assert process.poll() is None
    del template
    gc.collect()
    assert process.poll() is not None


def test_what_nobody_foresaw_is_told_as_what_it_is() -> None:
    odd: Any = 7

    with pytest.raises(ModelNotAvailableError, match="nobody foresaw: TypeError"):
        TemplateProcess(TemplateSource(text=HERMES, tokens=odd)).render(HELLO, now=NOON)
