"""A model's own chat template: messages as the text that the model was trained on.

Templates differ in what they must be told (`dialect`); which way is right for one is found out once, by
probes. Control tokens, such as the one that ends a turn, are the template's to write: in a message, and so in a tool's
result, they are only text. Deliberately not here: reading what a model writes back, and where templates are kept.
Source: the conventions of `apply_chat_template` (Hugging Face transformers 5).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import Any, Final, TypeAlias, cast

from wieldy.core.errors import UsageError
from wieldy.core.messages import Message, TextPart, messages_from
from wieldy.formats.reading.tool_index import ToolIndex, ToolLike
from wieldy.formats.templates.dialect import AnyTool, Dialect
from wieldy.formats.templates.faults import faults_of
from wieldy.formats.templates.losses import losses_of
from wieldy.formats.templates.needs import needs_of
from wieldy.formats.templates.program import TemplateProgram
from wieldy.formats.templates.search import find_dialect
from wieldy.formats.templates.speaker import Speaker

TemplateSource: TypeAlias = str | Mapping[str, str] | Sequence[Mapping[str, str]]
"""Jinja source; or several by name, also as the list of `name` and `template` that tokenizer files hold."""

_CUT: Final = "\ue000CUT HERE\ue001"
"""Marks where a rendering is cut; of private-use characters, so that no message says it by chance."""


class ChatTemplate:
    """A model's chat template, told of conversations in the way that it needs.

    It is run without a limit on time or memory: one that is not trusted belongs in a process of its own.

    Args:
        source: As it stands in the weights. Of several, `tool_use` serves where there are tools, else `default`.
        tokens: The texts of the tokenizer's named tokens that templates write themselves: `bos_token`, `eos_token`.
        control_tokens: The texts that mean more than their letters to the model.

    Raises:
        UsageError: It is no valid template.
    """

    def __init__(
        self, source: TemplateSource, *, tokens: Mapping[str, str] | None = None, control_tokens: Collection[str] = ()
    ) -> None:
        sources = _by_name(source)
        self._tokens = {"bos_token": "", "eos_token": "", **(tokens or {})}
        self._control_starts = _starts(control_tokens)
        self._programs = {name: TemplateProgram(text) for name, text in sources.items()}
        self._dialects: dict[str, Dialect] = {}

    @property
    def end_token(self) -> str:
        """The tokenizer's token that ends a text; empty if it was not told."""
        return self._tokens["eos_token"]

    @property
    def dialect(self) -> Dialect:
        """How the template is told of conversations with tools."""
        return self._speaker(with_tools=True).dialect

    @cached_property
    def needs(self) -> tuple[str, ...]:
        """What the template must be told otherwise than by the usual dictionaries; `render` sees to it."""
        speaker = self._speaker(with_tools=True)
        return needs_of(lambda dialect: replace(speaker, dialect=dialect), speaker.dialect)

    @cached_property
    def faults(self) -> tuple[str, ...]:
        """What the template loses of a conversation, such as "drops the second call"; found by probes."""
        return faults_of(self)

    def plain(self, text: str) -> str:
        """The text with a space in every control token, so that the model reads letters and obeys nothing.

        Halves of surrogate pairs, which are no text and which no engine takes, become question marks.
        """
        text = text.encode("utf-8", "replace").decode()
        return self._control_starts.sub(r"\g<0> ", text)

    def render(
        self,
        messages: str | Iterable[Message | Mapping[str, Any]],
        *,
        tools: Iterable[ToolLike] = (),
        generation_prompt: bool = True,
        begun: str = "",
        lossy: bool = False,
        now: datetime | None = None,
        **variables: object,
    ) -> str:
        """The conversation as text, by default up to where the assistant's next words begin.

        Args:
            messages: Messages or OpenAI-style dictionaries. A template without a system role gets the system message
                as the beginning of the first user message.
            tools: What the model may call.
            generation_prompt: Whether the text goes on to where the assistant's next words begin.
            begun: The first words of the assistant's next message, which the model is to go on with.
            lossy: Whether a call that the template does not show whole is left out silently.
            now: What the template is told of the clock; without it, a template that needs one refuses.
            variables: More that the template reads, such as `enable_thinking`, `reasoning_effort` or `documents`.

        Raises:
            UsageError: The template refuses these messages, or loses a part of a call.
        """
        told, shown = messages_from(messages), _shown(tools)
        speaker = self._speaker(with_tools=bool(shown), variables=variables)
        text = speaker.render(told, tools=shown, generation_prompt=generation_prompt, now=now)
        if not lossy and (losses := losses_of(speaker, told, text, tools=shown, now=now)):
            raise UsageError(
                f"The model's chat template leaves out what was called: {'; '.join(losses)}. "
                "Use the format's own presentation instead, or accept the loss with lossy=True."
            )
        return text + self.plain(begun)

    def continue_final_message(
        self,
        messages: str | Iterable[Message | Mapping[str, Any]],
        *,
        tools: Iterable[ToolLike] = (),
        now: datetime | None = None,
        **variables: object,
    ) -> str:
        """The conversation as text up to the last word of its last message, for the model to go on from there.

        Raises:
            UsageError: The template refuses these messages, or does not show the last one as it is.
        """
        told, shown = messages_from(messages), _shown(tools)
        if not told or told[-1].role != "assistant" or told[-1].calls or not told[-1].text:
            raise UsageError("Expected an assistant's text as the last message: the model goes on with it.")
        marked = Message(role="assistant", parts=(*told[-1].parts, TextPart(text=_CUT)))
        speaker = self._speaker(with_tools=bool(shown), variables=variables)
        text = speaker.render([*told[:-1], marked], tools=shown, generation_prompt=False, now=now)
        before, found, _ = text.rpartition(_CUT)
        if not found:
            raise UsageError("The model's chat template does not show the last message as it is, so it cannot go on.")
        return before

    def losses(
        self,
        messages: str | Iterable[Message | Mapping[str, Any]],
        *,
        tools: Iterable[ToolLike] = (),
        now: datetime | None = None,
        **variables: object,
    ) -> tuple[str, ...]:
        """What the template does not show of the calls in these messages: names, texts in arguments, whole calls.

        Raises:
            UsageError: The template refuses these messages.
        """
        told, shown = messages_from(messages), _shown(tools)
        speaker = self._speaker(with_tools=bool(shown), variables=variables)
        text = speaker.render(told, tools=shown, generation_prompt=True, now=now)
        return losses_of(speaker, told, text, tools=shown, now=now)

    def _speaker(self, *, with_tools: bool, variables: Mapping[str, object] | None = None) -> Speaker:
        name = "tool_use" if with_tools and "tool_use" in self._programs else "default"
        program = self._programs[name]

        def speaking(dialect: Dialect) -> Speaker:
            return Speaker(program=program, dialect=dialect, plain=self.plain, tokens=self._tokens)

        if name not in self._dialects:
            self._dialects[name] = find_dialect(speaking, with_calls=program.knows_calls)
        return replace(speaking(self._dialects[name]), variables=variables or {})


def _shown(tools: Iterable[ToolLike]) -> list[AnyTool]:
    """The tools, OpenAI-style dictionaries as they are: a template may read more in them than a definition holds."""
    given = tuple(tools)
    return [
        tool if isinstance(tool, Mapping) and "function" in tool else definition
        for tool, definition in zip(given, ToolIndex(given).definitions, strict=True)
    ]


def _by_name(source: TemplateSource) -> dict[str, str]:
    # What a tokenizer file holds is checked here, whatever a type checker was told of it.
    named = dict(_names_and_sources(source))
    if "default" not in named:
        raise UsageError(
            "Expected a chat template as text, or several by name with one called 'default', "
            f"found {type(source).__name__} with the names {sorted(named)}."
        )
    return named


def _names_and_sources(source: object) -> Iterator[tuple[str, str]]:
    match source:
        case str():
            yield "default", source
        case Mapping():
            for name, text in cast("Mapping[object, object]", source).items():
                if isinstance(name, str) and isinstance(text, str):
                    yield name, text
        case Sequence():
            for item in cast("Sequence[object]", source):
                match item:
                    case {"name": str(name), "template": str(text)}:
                        yield name, text
                    case _:
                        pass
        case _:
            pass


def _starts(tokens: Collection[str]) -> re.Pattern[str]:
    """The first character wherever one of the tokens begins, within another one too."""
    longer = [re.escape(token) for token in tokens if len(token) > 1]
    return re.compile(f"(?=(?:{'|'.join(longer)}))." if longer else r"(?!)", re.DOTALL)
