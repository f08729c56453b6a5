"""What a program wants an answer to be, and an answer read as that: a value, or `Incomplete` with what does not fit.

Law: what an answer becomes depends on its text and on whether a limit cut it off: one that was is a value only if
nothing could follow, as behind the last bracket of JSON. Deliberately not here: how programs say what they want
(`specs`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from pydantic import TypeAdapter, ValidationError

from wieldy.core.foreign import traceback_of
from wieldy.core.json import JsonValue
from wieldy.core.messages import Message
from wieldy.core.outputs import ChoiceOutput, Incomplete, JsonOutput, PatternOutput
from wieldy.run.outputs.document import NotJsonError, read_document, start_of
from wieldy.run.outputs.partial import Nothing, PartialJson
from wieldy.schema import CompiledSchema, Violation, example, explain
from wieldy.schema.explain import shown
from wieldy.schema.patterns import text_matching
from wieldy.tools.refusals import violations_of

SPEAKER: Final = "[An automatic check of your answer, not the user. What is quoted here are your own words.]"
"""With what a message begins in which the model is corrected, and which no user has written."""
_CUT: Final = "Your answer was cut off by the limit on output tokens"
_CLOSING: Final = ("}", "]", '"')
"""How JSON ends that could not go on; a number could."""
_SHOWN_OPTIONS: Final = 20
"""Options that an error names before it only counts them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonReader:
    """Reads JSON that fits a schema.

    Attributes:
        adapter: Makes a value of a Python type of it, and may refuse what the schema takes; without one the JSON itself
            is the value.
    """

    output: JsonOutput
    schema: CompiledSchema
    adapter: TypeAdapter[Any] | None = None

    def read(self, text: str, *, is_cut: bool = False) -> object:
        """The value; `Incomplete` if the text does not fit, or was cut off before its end could be known."""
        try:
            document, value = read_document(text)
        except NotJsonError as error:
            found = f"{_CUT}: it" if is_cut else "Your answer"
            told = f"{found} {error}. Expected JSON that fits the schema, and nothing else.{self._example()}"
            return self._incomplete(text, told, is_cut=is_cut)
        if is_cut and not document.endswith(_CLOSING):
            told = f"{_CUT}: {shown(value)} may be only its beginning. Expected a whole answer.{self._example()}"
            return self._incomplete(text, told, is_cut=True)
        violations = self.schema.violations(value)
        if violations:
            return self._misfit(text, violations)
        if self.adapter is None:
            return value
        try:
            return self.adapter.validate_json(document)
        except BaseException as error:  # a type's own checks are the program's code
            return self._refused(text, value, error)

    def _refused(self, text: str, value: JsonValue, error: BaseException) -> Incomplete:
        try:
            if type(error) is ValidationError:
                return self._misfit(text, violations_of(error, value, check=f"the check of `{error.title}`"))
        except BaseException as worse:  # and so is the text of what they raise
            error = worse
        told = (
            f"The check of `{self.output.name}` failed on your answer with an internal error, which is recorded for "
            f"the operator. Give another answer.{self._example()}"
        )
        return replace(self._incomplete(text, told), detail=traceback_of(error))

    def _misfit(self, text: str, violations: Sequence[Violation]) -> Incomplete:
        told = explain(violations, subject="These parts of your answer")
        return self._incomplete(text, f"{told}{self._example()}")

    def _incomplete(self, text: str, error: str, *, is_cut: bool = False) -> Incomplete:
        return Incomplete(text=text, error=error, partial=_partial(text, is_cut=is_cut))

    def _example(self) -> str:
        """One answer that fits, as a line; empty where none is found."""
        found = example(self.schema)
        if found is None:
            return ""
        text = json.dumps(found, ensure_ascii=False)
        try:
            if self.adapter is not None:
                self.adapter.validate_json(text)
        except BaseException:  # what the program's own checks refuse is no example, however they refuse it
            return ""
        return f"\nAn answer that would fit: {text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceReader:
    """Reads one of several options.

    Attributes:
        values: What each option stands for.
    """

    output: ChoiceOutput
    values: Mapping[str, object]

    def read(self, text: str, *, is_cut: bool = False) -> object:
        """The value of the option; `Incomplete` if the text is none. White space around it does not matter."""
        if not is_cut and text in self.values:
            return self.values[text]
        stripped = text.strip()
        for option, value in () if is_cut else self.values.items():
            if option.strip() == stripped:
                return value
        options = self.output.options
        more = "" if len(options) <= _SHOWN_OPTIONS else f" and {len(options) - _SHOWN_OPTIONS} more"
        named = ", ".join(map(shown, options[:_SHOWN_OPTIONS]))
        return Incomplete(
            text=text,
            error=f"{_CUT if is_cut else 'Your answer is none of the options'}: found {shown(text)}. Expected exactly "
            f"one of {named}{more}, letter for letter without quotes, and nothing else.",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternReader:
    """Reads a text that matches a regular expression as a whole."""

    output: PatternOutput
    pattern: re.Pattern[str]

    def read(self, text: str, *, is_cut: bool = False) -> object:
        """The text that matches, without white space around it unless that is part of it; else `Incomplete`."""
        for found in () if is_cut else (text, text.strip()):
            if self.pattern.fullmatch(found):
                return found
        like = next((sample for sample in text_matching(self.pattern.pattern) if self.pattern.fullmatch(sample)), None)
        such = "" if like is None else f", such as {shown(like)}"
        return Incomplete(
            text=text,
            error=f"{_CUT if is_cut else 'Your answer does not match'}: found {shown(text)}. Expected a text that "
            f"matches the regular expression `{self.pattern.pattern}` from its beginning to its end{such}, and nothing "
            "else.",
        )


OutputReader: TypeAlias = JsonReader | ChoiceReader | PatternReader
"""What is wanted (`output`, for the model), and `read`, which makes a value of an answer."""


def correction(refused: Incomplete) -> Message:
    """What the model is told whose answer does not fit.

    What it quotes are the model's own words, which strangers may have shaped: it says that they are not the user's.
    """
    return Message.user(f"{SPEAKER}\n{refused.error}\nGive your whole answer again, so that it fits.")


def is_correction(message: Message) -> bool:
    """Whether this is such a message, and no word of the user's."""
    return message.role == "user" and message.text.startswith(SPEAKER)


def _partial(text: str, *, is_cut: bool) -> JsonValue:
    """What of the JSON is there; None if nothing is. A number at the end of a text that was cut may be half of one."""
    reading = PartialJson()
    reading.feed(text[start_of(text, is_whole=True) :])
    if not is_cut:
        reading.close()
    found = reading.value
    return None if isinstance(found, Nothing) else found
