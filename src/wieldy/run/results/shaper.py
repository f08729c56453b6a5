"""From a value or an error to the one result that a model reads, in this order: presented, masked, judged, cut, fenced.

Law: no result holds a secret, is longer than allowed, or shows the words of strangers as if they were the program's.
Results for code are data, not text for a model: they are whole and without fences and notes, but masked and judged as
any. Deliberately not here: running tools (`run.executor`), and what follows from a result that is not trusted
(`run.policy`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from msgspec import Struct, structs

from wieldy.core.calls import ToolResult, Trust
from wieldy.core.foreign import attribute, plain, text_of, type_name
from wieldy.core.media import FilePart
from wieldy.run.failures import kind_of, layer_of
from wieldy.run.outcomes import Outcome, Step
from wieldy.run.results.caps import READ_RESULT, Cut, cut, with_note
from wieldy.run.results.fences import one_line, set_apart
from wieldy.run.results.injection import is_injection_shaped
from wieldy.run.results.invisible import reveal
from wieldy.run.results.masks import Mask
from wieldy.run.results.rules import ResultRules
from wieldy.run.results.summaries import Summary, summarised
from wieldy.tools.attachments import Attachment, human_size, size_bytes
from wieldy.tools.present import NOTHING, Presented, Sourced, whole_characters

if TYPE_CHECKING:
    from wieldy.core.errors import FailureLayer, ModelVisibleError
    from wieldy.core.json import JsonValue
    from wieldy.core.limits import Usage
    from wieldy.tools import Tool

_NO_WORDS: Final = "The call failed, and the tool does not say why."
_DEFAULT_RULES: Final = ResultRules()
_NO_SUMMARY: Final = Summary()


class _Words(Struct, frozen=True, kw_only=True):
    """What a result says, masked and judged.

    Attributes:
        source: Whose words they are; None for the runtime's own.
    """

    text: str
    call_id: str
    source: str | None = None
    trust: Trust = "trusted"


class Shaper:
    """Makes the results of one run.

    Args:
        run_id: The run, which strangers do not know.
        rules: How results are shown.
        secrets: What is masked, by name.
        as_data: Whether code reads the results, and not a model.

    Raises:
        UsageError: A secret cannot be masked.
    """

    def __init__(
        self,
        *,
        run_id: str = "",
        rules: ResultRules = _DEFAULT_RULES,
        secrets: Mapping[str, str] | None = None,
        as_data: bool = False,
    ) -> None:
        self._run_id = run_id
        self._as_data = as_data
        self._rules = rules
        self._mask = Mask(secrets or {})

    async def succeeded(self, step: Step, value: object, *, duration_s: float, usage: Usage | None = None) -> Outcome:
        """The outcome of a call whose code returned this value; runs the value's own serializers."""
        presented = step.tool.present(value)
        words = self._judged(
            presented.text,
            call_id=step.call.id,
            source=self._source(presented.source, step.tool.name),
            # To code it says something that there is nothing.
            trust=step.tool.trust if self._as_data and value is None else presented.trust or step.tool.trust,
        )
        cutting = self._cut(words.text)
        summary = _NO_SUMMARY if cutting is None else await self._summary(step, words)
        if summary.text is not None and is_injection_shaped(summary.text):
            words = structs.replace(words, trust="untrusted")
        parts, remarks = self._kept(presented.parts) if presented.parts else ((), ())
        result = ToolResult(
            tool_call_id=step.call.id,
            content=_with_notes(self._shown(words, cutting, summary.text), self._notes(step, presented, remarks)),
            # What is cut is kept as text, and nobody needs it twice.
            structured_content=self._structured(presented, value) if cutting is None else None,
            parts=parts,
            is_error=presented.is_error,
            layer="model" if presented.is_error else None,
            source=words.source,
            trust=words.trust,
            tainted_by=tuple(map(self.mask, presented.tainted_by)) if words.trust == "untrusted" else (),
            handle=None if cutting is None else step.call.id,
        )
        return Outcome(
            result=result,
            duration_s=duration_s,
            detail=summary.detail,
            whole=None if cutting is None else words.text,
            usage=usage,
        )

    def failed(
        self,
        call_id: str,
        error: ModelVisibleError,
        *,
        duration_s: float = 0.0,
        is_unknown: bool = False,
        usage: Usage | None = None,
        layer: FailureLayer | None = None,
        tool: Tool | None = None,
        is_quoted: bool = False,
    ) -> Outcome:
        """The outcome of a call that failed: the model reads the error's text.

        Args:
            call_id: The call.
            error: Its text is for the model, its detail for the operator.
            duration_s: How long the tool's code ran, in seconds.
            is_unknown: Whether nobody knows if the effect took place.
            usage: What the tool's code used of models.
            layer: Whose failure it is, where that is not what the error's class says.
            tool: Whose code failed. To code it says something that it did; so where strangers may have shaped what the
                tool returns, they may have shaped this.
            is_quoted: Whether the text is the tool's own.
        """
        text = whole_characters(text_of(error) or "") or _NO_WORDS
        if tool is None or not is_quoted:
            words = _Words(text=self.mask(text), call_id=call_id)
        else:
            words = self._judged(text, call_id=call_id, source=self._source(None, tool.name), trust=tool.trust)
        is_telling = self._as_data and tool is not None and tool.trust == "untrusted"
        cutting = self._cut(words.text)
        result = ToolResult(
            tool_call_id=call_id,
            content=self._shown(words, cutting),
            is_error=True,
            failure=kind_of(error) if self._as_data else None,
            layer=layer or layer_of(error) or "harness",
            source=words.source,
            trust="untrusted" if is_telling else words.trust,
            tainted_by=(self.mask(tool.name),) if is_telling and tool is not None else (),
            handle=None if cutting is None else call_id,
        )
        # Policies and other parts of a program may have error classes of their own.
        detail = None if (said := attribute(error, "detail")) is None else text_of(said)
        return Outcome(
            result=result,
            duration_s=duration_s,
            detail=None if detail is None else self.mask(whole_characters(detail)),
            whole=None if cutting is None else words.text,
            usage=usage,
            is_unknown=is_unknown,
            failure=kind_of(error),
        )

    def mask(self, text: str) -> str:
        """The text without any secret."""
        return self._mask.text(text)

    def _cut(self, text: str) -> Cut | None:
        return None if self._as_data else cut(text, limit_bytes=self._rules.limit_bytes)

    def _judged(self, text: str, *, call_id: str, source: str, trust: Trust) -> _Words:
        text = self._redacted(self.mask(text))
        if trust == "trusted" and not is_injection_shaped(text):
            return _Words(text=text, call_id=call_id, source=source)
        return _Words(text=reveal(text), call_id=call_id, source=source, trust="untrusted")

    def _source(self, said: str | None, tool_name: str) -> str:
        """Whose words a result is, fit to stand in a label; an address can be an attack as well."""
        if said is None:
            return self.mask(tool_name)
        source = one_line(self.mask(whole_characters(said)))
        return source if source and not is_injection_shaped(source) else self.mask(tool_name)

    async def _summary(self, step: Step, words: _Words) -> Summary:
        summary = await summarised(step.call, words.text, self._rules)
        return Summary(
            text=None if summary.text is None else self.mask(whole_characters(summary.text)),
            detail=None if summary.detail is None else self.mask(whole_characters(summary.detail)),
        )

    def _structured(self, presented: Presented, value: object) -> JsonValue:
        if presented.structured is None and self._as_data and _is_something(value, presented):
            return self.mask(presented.text)  # so that code can tell text from nothing
        structured = presented.structured
        if self._mask and structured is not None:
            structured = self._mask.value(structured)
        return structured if self._rules.redact is None or self._as_data else self._redacted_value(structured)

    def _redacted(self, text: str) -> str:
        if self._rules.redact is None or self._as_data:
            return text
        try:
            return whole_characters(plain(self._rules.redact(text)))
        except Exception as error:  # the program's own, and the text must not be shown
            return f"[withheld: it could not be redacted ({type_name(error)})]"

    def _redacted_value(self, value: JsonValue) -> JsonValue:
        match value:
            case str():
                return self._redacted(value)
            case list():
                return [self._redacted_value(item) for item in value]
            case dict():
                return {self._redacted(name): self._redacted_value(item) for name, item in value.items()}
            case _:
                return value

    def _kept(self, parts: Sequence[Attachment]) -> tuple[tuple[Attachment, ...], tuple[str, ...]]:
        """The parts that the result may carry, and for each other one why not."""
        kept: list[Attachment] = []
        remarks: list[str] = []
        for number, part in enumerate(parts, 1):
            reason = self._why_not(part, has_room=len(kept) < self._rules.parts)
            if reason is None:
                kept.append(replace(part, name=self.mask(part.name)) if isinstance(part, FilePart) else part)
            else:
                kind = "File" if isinstance(part, FilePart) else "Image"
                remarks.append(f"{kind} {number} is left out: {reason}.")
        return tuple(kept), tuple(remarks)

    def _why_not(self, part: Attachment, *, has_room: bool) -> str | None:
        size = size_bytes(part)
        if size > self._rules.part_limit_bytes:
            return f"it has {human_size(size)}, and a result carries at most {human_size(self._rules.part_limit_bytes)}"
        if not has_room:
            return f"a result carries at most {self._rules.parts}"
        secrets = self._mask.names_in(part.url)
        return f"it contains {', '.join(secrets)}" if secrets else None

    def _notes(self, step: Step, presented: Presented, remarks: Sequence[str]) -> list[str]:
        if self._as_data:
            return []
        notes = [] if presented.note is None else [self.mask(presented.note)]
        notes += remarks
        if step.arguments.repairs:
            notes.append(f"Your arguments were changed to fit: {self.mask('; '.join(step.arguments.repairs))}.")
        return notes

    def _shown(self, words: _Words, cutting: Cut | None, summary: str | None = None) -> str:
        if cutting is None:
            return self._set_apart(words, words.text)
        if summary is None:
            return self._set_apart(words, cutting.head, cutting.sentence(words.call_id), cutting.tail)
        return (
            f"[This is a summary of a result of {cutting.length} characters. To read the result itself, call "
            f'`{READ_RESULT}` with handle "{words.call_id}".]\n{self._set_apart(words, summary)}'
        )

    def _set_apart(self, words: _Words, head: str, *rest: str) -> str:
        """The text, or the sentence between its two ends, so that strangers' words are seen to be theirs."""
        if words.trust == "trusted" or self._as_data:
            return "\n".join((head, *rest))
        return set_apart(head, *rest, source=words.source or "the tool", seed=(self._run_id, words.call_id))


def _is_something(value: object, presented: Presented) -> bool:
    value = value.value if type(value) is Sourced else value
    return isinstance(value, str) or presented.text not in (NOTHING, "null")


def _with_notes(content: str, notes: Sequence[str]) -> str:
    return with_note(content, " ".join(notes)) if notes else content
