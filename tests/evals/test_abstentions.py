"""An abstention is an answer in words; nothing else is credited as one."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.evals.abstentions import EMPTY, ERROR_TEXT, MALFORMED, flaw_of

ERRORS = [
    "HTTP 500",
    "HTTP/1.1 503 Service Unavailable",
    "Error code: 429 - {'error': {'message': 'slow down'}}",
    "Error during inference: Request timed out.",
    '{"error": {"message": "boom", "code": 500}}',
    '{"detail": "Not Found"}',
    "{'error': 'x",
    "500 Internal Server Error",
    "Internal Server Error",
    "<html><body>502</body></html>",
    "<!DOCTYPE html><title>Bad gateway</title>",
    "Traceback (most recent call last):\n  File",
    "openai.RateLimitError: too many",
    "Rate limit exceeded",
    "Connection refused",
    "Status: 404",
]
BROKEN_CALLS = [
    '<tool_call>{"name": "f", "arguments": {"a": ',
    "<function=f><parameter=a>1",
    '[TOOL_CALLS] [{"name": "f"',
    '{"name": "f", "arguments": {"a": 1}}',
    '{"name": "f", "parameters": {"a": 1}',
    '[{"function": "f", ',
    "[f(a=1",
    "f(a=1)",
    "`f(a=1)`",
    "functools[{",
    'Sure! {"name": "f", "arguments": {"a": 1',
    "I will call book(city='Rome') now.",
    "Action: f\nAction Input: {",
    "<|python_tag|>f",
    "[f(1), g(2)]",
]
ANSWERS = [
    "I cannot do that with the functions that I have.",
    "The area is 25.",
    "None of the functions fits: they compute a body mass index.",
    "In Python you could write:\n```python\nprint(area(10, 5))\n```",
    "Sorry, the error of this measurement is unknown to me.",
    "The status of order 404 is not something that I can look up.",
    "你好，我无法完成。",
    "Please name the city (for example Rome).",
    "Errors happen; which one do you mean?",
    "Code 42 stands for it.",
]


FORMATS = ["hermes", "llama-json", "qwen3-coder", "pythonic"]


@pytest.mark.parametrize("text", ERRORS)
def test_the_text_of_an_error_is_no_abstention(text: str) -> None:
    assert (flaw_of(text) or "").startswith(ERROR_TEXT)


@pytest.mark.parametrize("text", BROKEN_CALLS)
def test_a_broken_call_is_no_abstention(text: str) -> None:
    assert (flaw_of(text, ["book"]) or "").startswith(MALFORMED)


@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_in_words_is_an_abstention(text: str) -> None:
    assert flaw_of(text, ["book"]) is None


@given(st.text(alphabet=" \n\t.,!?0123456789-*#`[]{}()"))
def test_text_without_a_word_is_no_abstention(text: str) -> None:
    assert (flaw_of(text) or "").startswith(EMPTY)


@given(st.text(max_size=40))
def test_every_text_is_one_or_the_other(text: str) -> None:
    assert isinstance(flaw_of(text, [text]), str | None)


@given(st.dictionaries(st.sampled_from("abc"), st.integers(0, 9)), st.integers(1, 30), st.sampled_from(FORMATS))
def test_calls_that_were_cut_off_are_no_abstentions(arguments: dict[str, int], cut: int, name: str) -> None:
    wrecks = {
        "hermes": '<tool_call>\n{"name": "f", "arguments": ' + json.dumps(arguments) + "}",
        "llama-json": '{"name": "f", "parameters": ' + json.dumps(arguments) + "}",
        "qwen3-coder": "<tool_call>\n<function=f>\n" + "".join(f"<parameter={key}>" for key in arguments),
        "pythonic": f"[f({', '.join(f'{key}={value}' for key, value in arguments.items())}",
    }
    text = wrecks[name]
    assert flaw_of(text[: max(12, len(text) - cut)], ["f"]) is not None
