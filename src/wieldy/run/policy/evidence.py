"""Where values may stand that a call is aimed at: in the user's words, and in results that count.

A result counts with all that it says if it is trusted, and with the fields that are vouched for if it is not. What it
lists are records; where the user's words name some of them, the others do not count. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from wieldy.run.outputs.readers import is_correction
from wieldy.run.policy.asking import named_among
from wieldy.run.policy.criteria import Texts
from wieldy.run.policy.paths import Path, leaves, render_path
from wieldy.run.policy.standing import begins_in, stands_in, times_in

if TYPE_CHECKING:
    from wieldy.core.calls import ToolResult
    from wieldy.core.json import JsonObject
    from wieldy.run.policy.decisions import Proposal

_RUN: Final = 6
"""Words in a row that nobody writes by chance."""

_SHORT: Final = 3
"""Characters of a value that may stand anywhere by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What one result says that counts.

    Attributes:
        tool: Whose result it is.
        arguments: Of its call, for a result that only repeats what it was asked with says nothing.
        texts: Texts in which a value may stand, unless the user named some of what is listed.
        values: What a value may be, if the user did not name others.
        named: What a value may be of records that the user named.
        words: All that it says.
        is_private: Whether the prompt does not ask for what the tool reads.
    """

    tool: str
    arguments: JsonObject
    texts: Sequence[str]
    values: Sequence[str]
    named: Sequence[str]
    words: Sequence[str]
    is_private: bool

    def has(self, text: str, *, is_named: bool) -> bool:
        """Whether the value stands here, and was not put here by the call."""
        is_one_of_named = is_named or bool(self.named)
        values = self.named if is_one_of_named else self.values
        texts = self.texts if not is_one_of_named else self.named if self.texts else ()
        return (text in values or stands_in(text, texts)) and not _is_asked_with(text, self.arguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What may name a target.

    Attributes:
        prompt: What the user and the program wrote.
        results: What was read since.
    """

    prompt: Sequence[str]
    results: Sequence[Said] = field(default=())

    @classmethod
    def of(
        cls, proposal: Proposal, *, vouched: Mapping[str, Texts], private: Mapping[str, Texts], also: Texts
    ) -> Evidence:
        """What there is for a proposal. Cost: linear in what was read.

        Args:
            proposal: The call.
            vouched: By the names of tools: patterns of the fields that count although strangers may have shaped others.
            private: By the names of tools: words, of which the prompt must have one to ask for what they read.
            also: Names of tools all of whose results count.
        """
        # A prompt that strangers may have shaped is theirs, and a correction quotes what the model wrote.
        said = () if proposal.prompt_tainted_by else proposal.messages
        prompt = [each.text for each in said if each.role in ("system", "user") and not is_correction(each)]
        calls = {call.id: call for each in proposal.messages for call in each.calls}
        results: list[Said] = []
        for message in proposal.messages:
            result = message.result
            call = None if result is None else calls.get(result.tool_call_id)
            if result is None or call is None or result.is_error:
                continue
            name = call.name or ""
            is_quoted = any(fnmatchcase(name, tool) for tool in also)
            is_whole = result.trust == "trusted" or is_quoted
            counting = ("*",) if is_whole else vouched.get(name, ())
            words = private.get(name, ())
            results.append(
                _said(
                    result,
                    () if is_quoted else prompt,
                    tool=name,
                    arguments=getattr(call, "arguments", {}),
                    counting=counting,
                    is_whole=is_whole,
                    is_private=bool(words) and not begins_in(words, prompt),
                )
            )
        return cls(prompt=prompt, results=results)

    def has(self, value: str | float, *, is_named: bool = False) -> bool:
        """Whether the value stands in what counts.

        Args:
            value: What a call is aimed at.
            is_named: Whether it has to be in the prompt, itself or by a name of its record.
        """
        text = str(value)
        return stands_in(text, self.prompt) or any(each.has(text, is_named=is_named) for each in self.results)

    def asked_for(self) -> Evidence:
        """Without what the prompt does not ask to be read."""
        return replace(self, results=[each for each in self.results if not each.is_private])

    def is_source(self, value: str | float, *, deeds: Collection[str]) -> bool:
        """Whether the prompt has the value once, and a call of a tool that is none of these was made with it."""
        text = str(value)
        reads = [each for each in self.results if each.tool not in deeds]
        return times_in(text, self.prompt) == 1 and any(
            str(given) == text for each in reads for _, given in leaves(each.arguments)
        )

    def carried_by(self, text: str) -> str | None:
        """The tool whose result is passed on by the text, if the prompt does not ask for what it reads."""
        private = [each for each in self.results if each.is_private]
        if not private:
            return None
        known = [*self.prompt, *(words for each in self.results if not each.is_private for words in each.words)]
        own = _runs(text) - {run for words in known for run in _runs(words)}
        for each in private:
            values = [words for words in each.words if len(words) > _SHORT and stands_in(words, [text])]
            if any(not stands_in(value, known) for value in values) or any(own & _runs(words) for words in each.words):
                return each.tool
        return None


def _said(
    result: ToolResult,
    prompt: Sequence[str],
    *,
    tool: str,
    arguments: JsonObject,
    counting: Texts,
    is_whole: bool,
    is_private: bool,
) -> Said:
    found = [(path, str(value)) for path, value in leaves(result.structured_content)]
    records: dict[Path, list[str]] = {}
    for path, value in found:
        records.setdefault(_record(path), []).append(value)
    named = {
        record for record, is_named in zip(records, named_among([*records.values()], prompt), strict=True) if is_named
    }
    values = [(path, value) for path, value in found if _is_among(path, counting)]
    return Said(
        tool=tool,
        arguments=arguments,
        texts=[result.content, *(value for _, value in values)] if is_whole else (),
        values=[value for _, value in values],
        named=[value for path, value in values if _record(path) in named],
        words=[result.content, *(value for _, value in found)],
        is_private=is_private,
    )


def _is_among(path: Path, patterns: Texts) -> bool:
    return any(fnmatchcase(render_path(path), pattern) for pattern in patterns)


def _record(path: Path) -> Path:
    """That to which a value belongs: what stands in the first list on the way to it, or everything."""
    place = next((place for place, part in enumerate(path) if part.isdecimal()), None)
    return () if place is None else path[: place + 1]


def _runs(text: str) -> set[str]:
    words = text.lower().split()
    return {" ".join(words[place : place + _RUN]) for place in range(len(words) - _RUN + 1)}


def _is_asked_with(text: str, arguments: JsonObject) -> bool:
    return stands_in(text, [str(value) for _, value in leaves(arguments)])
