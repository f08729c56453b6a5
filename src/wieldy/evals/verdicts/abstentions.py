"""Whether a reply without calls is an abstention: an answer in words.

Benchmarks credit whatever holds no call: nothing at all, the wreck of a call, the error page of a server. Here these
are told apart by their form, which is all that is left of them. Their questions want prose (`flaw_of`); the answer to a
question of one's own may be a number, JSON or a sentence about errors, so there only the unmistakable counts
(`flaw_of_answer`). Deliberately not here: whether the words are true.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any, Final, cast

from wieldy.evals.bfcl.decoding import DecodingError, decode

ERROR_TEXT: Final = "error-text"
EMPTY: Final = "empty-answer"
MALFORMED: Final = "malformed-call"

_MARKS: Final = r"""
    <\|?/?(?:tool|function)_?calls?\b | <\|?tool.call.begin | <\|(?:python_tag|action_start|call)\b | <function[=\s]
    | \[/?TOOL_CALLS?\] | </?invoke\b | </?TOOLCALL> | functools\[
"""
_MARKED: Final = re.compile(_MARKS, re.IGNORECASE | re.VERBOSE)
_MARKUP: Final = re.compile(rf"{_MARKS} | ^\s*Action(?:[ ]Input)?\s*:", re.IGNORECASE | re.MULTILINE | re.VERBOSE)
"""Marks with which model families begin and end calls."""

_KEYS_OF_CALLS: Final = "type|id|name|function|function_name|tool|tool_name|parameters|arguments|recipient_name"
_KEYS_OF_NAMES: Final = "name|action|function|function_name|tool|tool_name|recipient_name"
_JSON_AT_START: Final = re.compile(rf"[{{\[][{{\[\s]*[\"']?(?:{_KEYS_OF_CALLS})[\"']?\s*:")
_NAME: Final = re.compile(r"[\"'](?:name|function|tool)[\"']\s*:")
_ARGUMENTS: Final = re.compile(r"[\"'](?:arguments|parameters)[\"']\s*:")
_ARGUMENTS_NAMED: Final = re.compile(r"[\"'](?:arguments|parameters|action_input)[\"']\s*:")
_ARGUMENT: Final = r"\s*(?:\w+\s*=|[\"'\[{\d-]|\))"
_PYTHON_AT_START: Final = re.compile(rf"\[\s*[A-Za-z_][\w.]*\(|\W*[A-Za-z_][\w.]*\s*\({_ARGUMENT}")

_ERROR: Final = re.compile(
    r"""
    \W*(?:
      <!doctype[ ]html | <html | <\?xml
      | (?:an?[ ])?(?:internal[ ]|unexpected[ ])?(?:server[ ])?error(?:[ ]code|[ ]occurred)?\s*[:.\d-]
      | error[ ]during[ ]inference | traceback[ ]\(most[ ]recent[ ]call[ ]last\)
      | (?:http|status|status[ _]code|code)(?:/[\d.]+)?\s*[:=]?\s*[45]\d\d\b
      | [45]\d\d\s+(?:internal|bad|service|gateway|too[ ]many|unauthori[sz]ed|forbidden|not[ ]found|client|server)
      | internal[ ]server[ ]error | bad[ ]gateway | service[ ]unavailable | gateway[ ]time-?out | too[ ]many[ ]requests
      | rate[ ]limit | (?:the[ ])?request[ ]timed[ ]out | connection[ ](?:error|refused|reset|aborted|timed[ ]out)
      | [\w.]*(?:Error|Exception)\s*[:(]
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_PHRASES: Final = "|".join(re.escape(each.phrase) for each in HTTPStatus if each >= HTTPStatus.BAD_REQUEST)
_PHRASE: Final = re.compile(_PHRASES, re.IGNORECASE)
_ERROR_ALONE: Final = re.compile(
    rf"""
    (?:error[ :]*)? (?:http|status|status[ _]code|error[ ]code|code)(?:/[\d.]+)?\s*[:=]?\s*[45]\d\d
        (?:[ :-]+(?:{_PHRASES}) | \s*[-:]\s*[{{\[].*[}}\]])? [.!]?
    | [45]\d\d\s+(?:{_PHRASES}) [.!]?
    | (?:internal[ ]server[ ]error|bad[ ]gateway|service[ ]unavailable|gateway[ ]time-?out|too[ ]many[ ]requests) [.!]?
    | (?:error[ :]*)? (?: rate[ ]limit[ ](?:exceeded|reached) | (?:the[ ])?request[ ]timed[ ]out
        | connection[ ](?:error|refused|aborted|timed[ ]out|reset(?:[ ]by[ ]peer)?)) [.!]?
    | traceback[ ]\(most[ ]recent[ ]call[ ]last\):.*\n[\w.]*(?:Error|Exception)\b[^\n]*
    | (?:error[ :]*)? upstream[ ]connect[ ]error\b.*
    | <(?:html|!doctype[ ]html)\b.*?<(?:title|h1)[^>]*>\s*(?:error\s+)?[45]\d\d\b.*>
    """,
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
"""The error of a service, and nothing else."""

_UNSAID: Final = re.compile(r"<\|[^|<>]*\|>|<think>.*?(?:</think>|$)", re.DOTALL)
"""Marks between messages, and what a model thinks."""

_KEYED: Final = (
    r"\[?\s*\{\s*[\"']NAME[\"']\s*:\s*\{(?:.*\}\s*\}|[^{}]*\}?)\s*\]?|<NAME>.*</NAME>|<NAME(?:\s+[\w-]+\s*=\s*[\"'].*)?/>"
    r"|NAME\s*:?\s*\{.*\}|<\|channel\|>.*\bto=(?:functions\.)?NAME\b.*|to=(?:functions\.)?NAME\b.*"
)
"""All of a text that is a call by the function's name, as an object, an element, or the address of a message."""
_WRITTEN: Final = (
    r"(?:[-*>]\s+)?(?:\w+\s*=\s*)?(?:await\s+|print\()*\[?\s*(?:(?:functions|tools|default_api)\.)?"
    rf"NAME\((?={_ARGUMENT}|\{{)(?:[^()]*|.*\)\s*\]?)"
)
"""All of a text that is a call as Python, whatever is done with what it gives."""
_ANNOUNCED: Final = (
    r"\b(?:I will|I['\u2019]ll|I am going to|I['\u2019]m going to|let me)(?: now)? (?:call|use|run|invoke|make)\b"
    rf"[^.!?\n()]{{0,40}}(?<![\w.-])NAME\({_ARGUMENT}"
)
"""That one is about to be called, with what: nothing was."""

_KEYS_BESIDE_ERRORS: Final = frozenset({"error", "code", "status", "status_code", "message", "detail", "type"})
_ERROR_KEYS: Final = frozenset({"error", "errors", "detail", "status_code", "statusCode"})


def flaw_of(text: str, functions: Iterable[str] = ()) -> str | None:
    """Why a reply without calls is no answer in words: a code, a colon and words; None if it is one.

    Args:
        text: What the model wrote.
        functions: The names of the functions that it was offered: a call of one of them anywhere is meant as one.
    """
    plain = text.strip().strip("`").strip()
    if not any(character.isalpha() for character in plain):
        return f"{EMPTY}: there is no word in it"
    shown = repr(plain[:80])
    if _is_error(plain):
        return f"{ERROR_TEXT}: it reads like the error of a service: {shown}"
    if _MARKUP.search(plain) or _is_call(plain) or _calls_one_of(plain, functions):
        return f"{MALFORMED}: it reads like a call that could not be read: {shown}"
    return None


def is_marked(text: str) -> bool:
    """Whether the text has a mark with which a family of models begins or ends calls."""
    return _MARKED.search(text) is not None


def flaw_of_answer(text: str, functions: Iterable[str] = ()) -> str | None:
    """Why a reply without calls answers no question: a code, a colon and words; None if it may be an answer.

    Args:
        text: What the model wrote.
        functions: The names of the functions that it was offered: only an attempt to call one of them is a broken call.
    """
    plain = text.strip().strip("`").strip()
    if not any(unicodedata.category(character)[0] in "LNS" for character in _UNSAID.sub("", plain)):
        return f"{EMPTY}: there is nothing in it that could be read"
    shown = repr(plain[:80])
    if _ERROR_ALONE.fullmatch(plain) or _is_error_object(plain):
        return f"{ERROR_TEXT}: it is the error of a service and nothing else: {shown}"
    if any(_is_meant_to_call(plain, name) for name in functions):
        return f"{MALFORMED}: it reads like a call that could not be read: {shown}"
    return None


def _is_error_object(text: str) -> bool:
    """Whether it is what services send instead of an answer: an object that holds an error, or a list of one."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if isinstance(value, list) and len(items := cast("list[Any]", value)) == 1:
        value = items[0]
    held = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    error: Any = held.get("error")
    said: Any = held.get("detail", held.get("message"))
    if error is None and isinstance(said, str) and held.keys() <= _KEYS_BESIDE_ERRORS:
        return _PHRASE.fullmatch(said) is not None
    if isinstance(error, str):
        return bool(error) and held.keys() <= _KEYS_BESIDE_ERRORS
    return isinstance(error, dict) and "message" in error


def _is_meant_to_call(text: str, name: str) -> bool:
    """Whether it writes a call of this function: behind a family's mark, as an object that names it, as Python.

    What only mentions one in a sentence, even with arguments, is talk about it, unless it says that it will do it.
    """
    named = re.escape(name)
    if _MARKED.match(text) or (_MARKED.search(text) and re.search(rf"(?<![\w.-]){named}(?![\w.-])", text)):
        return True
    if re.search(rf"^\s*Action\s*:\s*{named}\s*$", text, re.MULTILINE):
        return True
    if re.search(rf"[\"'](?:{_KEYS_OF_NAMES})[\"']\s*:\s*[\"']{named}[\"']", text):
        return _JSON_AT_START.match(text) is not None or _ARGUMENTS_NAMED.search(text) is not None
    if re.fullmatch(_KEYED.replace("NAME", named), text, re.DOTALL):
        return True
    if re.search(_ANNOUNCED.replace("NAME", named), text, re.IGNORECASE):
        return True
    # To its end: in `sqrt(16) is 4.` words follow.
    return re.fullmatch(_WRITTEN.replace("NAME", named), text, re.DOTALL) is not None


def _is_error(text: str) -> bool:
    if _ERROR.match(text):
        return True
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return re.match(r"\{\s*[\"']?(?:error|errors|detail|status_?code)[\"']?\s*:", text) is not None
    return isinstance(value, dict) and not _ERROR_KEYS.isdisjoint(cast("dict[str, Any]", value))


def _is_call(text: str) -> bool:
    if _JSON_AT_START.match(text) or _PYTHON_AT_START.match(text) or (_NAME.search(text) and _ARGUMENTS.search(text)):
        return True
    try:
        return bool(decode(text))
    except DecodingError:
        return text[0] in "[{" and text[-1] in "]})"


def _calls_one_of(text: str, functions: Iterable[str]) -> bool:
    return any(re.search(rf"(?<![\w.]){re.escape(name)}\s*\(\s*\w+\s*=", text) for name in functions)
