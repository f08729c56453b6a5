"""An abstention is an answer in words; nothing else is credited as one."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.evals.verdicts.abstentions import EMPTY, ERROR_TEXT, MALFORMED, flaw_of, flaw_of_answer

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


QUESTIONS = {
    "4": "How many?",
    "10:30": "When?",
    "40 €": "How much?",
    "👍": "Is it all right?",
    '{"city": "Oslo"}': "As JSON?",
    '{"name": "Bob", "arguments": {}}': "As JSON, with arguments?",
    '["Oslo", "Rome"]': "A list?",
    "sqrt(16) is 4.": "What is sqrt(16)?",
    'You would write print(status("1")).': "How is it printed?",
    '```python\nprint("hi")\n```': "A program?",
    "Connection refused means that nothing listens on that port.": "What does it mean?",
    "HTTP 404 means that a page is not found.": "And this?",
    "Rate limits protect servers.": "What are they for?",
    "ValueError: raised when a value is wrong.": "And this?",
    "<html><body>hello</body></html>": "A page?",
    "status (of the order): shipped (today)": "How far is it?",
    "Action: wait\nstatus of it: unknown": "What now?",
}
"""Answers to questions of one's own; of the functions that are offered `status` is one."""


@pytest.mark.parametrize("text", QUESTIONS)
def test_an_answer_to_a_question_of_ones_own_need_not_be_prose(text: str) -> None:
    assert flaw_of_answer(text, ["status", "refund"]) is None


@given(st.one_of(st.text(min_size=1), st.recursive(st.integers() | st.text(), st.lists).map(json.dumps)))
def test_without_functions_only_nothing_and_the_error_of_a_service_are_no_answer(text: str) -> None:
    assert not (flaw_of_answer(text) or "").startswith(MALFORMED)
    if any(character.isalnum() for character in text) and "error" not in text and flaw_of(text) is None:
        assert flaw_of_answer(text) is None


@pytest.mark.parametrize("text", BROKEN_CALLS)
def test_an_attempt_to_call_what_is_offered_is_a_broken_call_everywhere(text: str) -> None:
    assert (flaw_of_answer(text, ["f", "g", "book"]) or "").startswith(MALFORMED)


@pytest.mark.parametrize(
    "text",
    [
        "HTTP 500",
        "HTTP/1.1 503 Service Unavailable",
        "Error code: 429 - {'error': {'message': 'slow down'}}",
        '{"error": {"message": "boom", "code": 500}}',
        "500 Internal Server Error",
        "Bad Gateway",
        "<!DOCTYPE html><title>502 Bad gateway</title>",
        "Status: 404",
        '{"error": "rate limited"}',
        '{"detail": "Not Found"}',
        "Rate limit exceeded",
        "Request timed out.",
        '[{"error": {"message": "slow down"}}]',
        "Error: upstream connect error or disconnect/reset before headers",
    ],
)
def test_the_error_of_a_service_and_nothing_else_is_no_answer(text: str) -> None:
    assert (flaw_of_answer(text) or "").startswith(ERROR_TEXT)
    if "upstream" not in text:  # whatever follows is of it
        assert flaw_of_answer(f"{text} is what it says, because the server was not there.") is None


@pytest.mark.parametrize(
    "text",
    ["", " \n ", "\u200b", "\x00", "...", "<|im_end|>", "<think>The user wants", "<think>No.</think>\n", "```\n```"],
)
def test_what_nobody_could_read_is_no_answer(text: str) -> None:
    assert (flaw_of_answer(text, ["status"]) or "").startswith(EMPTY)


@pytest.mark.parametrize(
    "text", ["4", "\U0001f44d", "\u2713", "<think>No.</think> 4", "<|im_start|>Yes<|im_end|>", "{}a"]
)
def test_what_can_be_read_may_be_an_answer(text: str) -> None:
    assert flaw_of_answer(text, ["status"]) is None


@pytest.mark.parametrize(
    ("text", "is_call"),
    [
        ('{"refund": {"order_id": "1"}}', True),
        ("<refund><order_id>1</order_id></refund>", True),
        ('[{"refund": {"order_id": "1"}}]', True),
        ('{"thought": "x", "action": "refund", "action_input": {"order_id": "1"}}', True),
        ('<refund order_id="1"/>', True),
        ('refund {"order_id": "1"}', True),
        ('functions.refund({"order_id": "1"})', True),
        ('print(await refund(order_id="1"))', True),
        ('done = refund(order_id="1")', True),
        ('to=functions.refund <|message|>{"order_id": "1"}', True),
        ('I will call refund(order_id="1") now', True),
        ('I will not call refund(order_id="1").', False),
        ('I would have to call refund(order_id="1"). Shall I?', False),
        ('refund: it is {"possible"} tomorrow', False),
        ("Use it so:\n```python\nrefund(order_id='1')\n```", False),
        ('{"refund": "possible"}', False),
        ('{"refund": {"state": "possible"}, "order": 1}', False),
        ('Call refund(order_id="1") to have it back.', False),
    ],
)
def test_a_call_is_the_whole_text_and_talk_about_one_is_not(text: str, is_call: bool) -> None:
    assert (flaw_of_answer(text, ["refund"]) or "").startswith(MALFORMED) is is_call
