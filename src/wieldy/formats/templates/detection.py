"""Finds the format that a chat template belongs to: the template writes known replies, the format reads them back.

What counts, in this order: that the calls come back right; that the format itself would have written the same; that no
markup is left in the text beside the calls; how much of the format's own text stands there. Equal formats keep the
order in which they were given, so the answer is always the same. What stands behind the end of the turn counts for
nothing, since no model gets that far. Deliberately not here: guessing from names, or from markers in a template's
source.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from wieldy.core.calls import ToolCall
from wieldy.core.errors import UsageError
from wieldy.core.messages import Message
from wieldy.formats.format import ChatFormat
from wieldy.formats.templates.probes import ONE_CALL, PROBES, Probe, holds_calls, reply_text
from wieldy.formats.templates.template import ChatTemplate, TemplateSource

_SAME = 2
_NEARLY = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """How well a format fits a template.

    Attributes:
        name: The format's name.
        probes: How many replies the template could show.
        right: In how many of them all calls came back right.
        likeness: How near the format's own text of these replies is to the template's: 2 for each that is the same,
            1 for each that differs in white space or in what stands before it.
        clean: In how many of them the text beside the calls came back as it was.
        nearness: How much of the format's own text of one call stands in the template's, from 0 to 1.
        reasons: What did not come back, in words.
    """

    name: str
    probes: int
    right: int
    likeness: int
    clean: int
    nearness: float = 0.0
    reasons: tuple[str, ...] = ()

    @property
    def merits(self) -> tuple[float, ...]:
        """What counts, in the order in which it does."""
        return self.right, self.likeness, self.clean, self.nearness

    @property
    def fits(self) -> bool:
        """Whether the format reads what the template writes: some calls right, with nothing left over."""
        return self.right > 0 and self.clean > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """A reply as the template writes it, and as much of it as can be found there."""

    probe: Probe
    prompt: str
    text: str
    reply: Message


def detect(chat_template: TemplateSource | ChatTemplate, formats: Iterable[ChatFormat] | None = None) -> str:
    """The name of the format that the template's model writes.

    The template is run, without a limit on time or memory: one that is not trusted belongs in a process of its own.

    Args:
        chat_template: The template, as it stands in the weights.
        formats: What to choose from; None for the whole catalogue.

    Raises:
        UsageError: The template is none, shows no calls, or fits no format; the text says what was tried.
    """
    choice = tuple(formats) if formats is not None else _catalogue()
    candidates = rank(chat_template, choice)
    if candidates and candidates[0].fits:
        return candidates[0].name
    tried = "; ".join(f"{c.name}: {c.reasons[0] if c.reasons else 'markup is left'}" for c in candidates[:5])
    raise UsageError(
        f"No known format reads the calls that the chat template writes. Tried {len(choice)}, nearest first: {tried}. "
        "Define a format for it, or name the one to use."
    )


def rank(chat_template: TemplateSource | ChatTemplate, formats: Iterable[ChatFormat]) -> list[Candidate]:
    """The formats, the one that fits best first.

    Cost: all formats read one reply each; those that get it right read them all.

    Raises:
        UsageError: The template is none, or shows no calls: then there is nothing to tell formats by.
    """
    template = chat_template if isinstance(chat_template, ChatTemplate) else ChatTemplate(chat_template)
    shown = [reply for probe in PROBES if (reply := _shown(template, probe)) is not None]
    if not shown:
        raise UsageError(
            f"The chat template shows no calls ({_why_not(template)}), so there is nothing to tell its format by. Name "
            "the format instead."
        )
    candidates = [_candidate(format_, shown) for format_ in formats]
    return sorted(candidates, key=lambda candidate: candidate.merits, reverse=True)


def _why_not(template: ChatTemplate) -> str:
    """What the template does with a call instead of showing it, and why if it refuses it."""
    try:
        reply_text(template, ONE_CALL)
    except UsageError as refusal:
        return f"{'; '.join(template.faults)}: {str(refusal).rpartition('messages: ')[2].rstrip('.')}"
    return "; ".join(template.faults)


def _catalogue() -> tuple[ChatFormat, ...]:
    # Here, since reading the whole catalogue is what most programs that use one format never need.
    from wieldy.formats import get, names  # noqa: PLC0415

    return tuple(get(name) for name in names())


def _shown(template: ChatTemplate, probe: Probe) -> _Shown | None:
    told = replace(probe, reply=_with_ids(probe.reply))
    try:
        written = reply_text(template, told)
    except UsageError:
        return None
    if not holds_calls(written.text, told.calls):
        return None
    # Text and reasoning that the template leaves out are its fault and no format's.
    text = told.reply.text if told.reply.text in written.text else ""
    reasoning = told.reply.reasoning if told.reply.reasoning in written.text else ""
    reply = Message.assistant(text, told.calls, reasoning=reasoning)
    # No model gets beyond the token that ends a text.
    ended, end, _ = written.text.partition(template.end_token) if template.end_token else (written.text, "", "")
    reply_as_written = ended if end and holds_calls(ended, told.calls) else written.text
    return _Shown(probe=probe, prompt=written.prompt, text=reply_as_written, reply=reply)


def _with_ids(reply: Message) -> Message:
    """The reply with ids that others know: a wire with ids then shows them, and one without does not."""
    calls = [
        replace(call, provider_id=f"call{number:05d}")
        for number, call in enumerate(reply.calls, start=1)
        if isinstance(call, ToolCall)
    ]
    return Message.assistant(reply.text, calls, reasoning=reply.reasoning)


def _candidate(format_: ChatFormat, shown: Sequence[_Shown]) -> Candidate:
    right = likeness = clean = 0
    nearness = 0.0
    reasons: list[str] = []
    for whole in shown:
        reply, fault, is_clean = _read(format_, whole)
        if fault is not None:
            reasons.append(f"{reply.probe.name}: {fault}")
            if reply.probe is ONE_CALL:
                break
            continue
        right += 1
        clean += is_clean
        own = format_.render_reply(reply.reply, reply.probe.tools, prompt=reply.prompt)
        likeness += _likeness(own, reply.text, format_.turns.reply_end)
        if reply.probe is ONE_CALL:
            nearness = SequenceMatcher(None, own, reply.text, autojunk=False).ratio()
    return Candidate(
        name=format_.name,
        probes=len(shown),
        right=right,
        likeness=likeness,
        clean=clean,
        nearness=nearness,
        reasons=tuple(reasons),
    )


def _read(format_: ChatFormat, shown: _Shown) -> tuple[_Shown, str | None, bool]:
    """What the format makes of the reply; up to the end of the turn, if all calls stand before that."""
    text = _up_to_end(format_, shown.text)
    if text != shown.text:
        ended = replace(shown, text=text)
        fault, is_clean = _reading_fault(format_, ended)
        if fault is None:
            return ended, fault, is_clean
    return shown, *_reading_fault(format_, shown)


def _up_to_end(format_: ChatFormat, text: str) -> str:
    """The text up to where the turn ends or another one begins: templates may go on there."""
    marks = (*format_.turns.reply_end, *format_.turns.openers)
    return text[: min((at for mark in marks if (at := text.find(mark)) >= 0), default=len(text))]


def _reading_fault(format_: ChatFormat, shown: _Shown) -> tuple[str | None, bool]:
    """What is wrong with the calls that the format reads, and whether the rest came back as it was."""
    read = format_.parse(shown.text, shown.probe.tools, prompt=shown.prompt)
    wanted = [(call.name, call.arguments) for call in shown.probe.calls]
    found = [(call.name, call.arguments) for call in read.calls if isinstance(call, ToolCall)]
    if len(found) < len(read.calls):
        return "a call could not be read", False
    if [name for name, _ in found] != [name for name, _ in wanted]:
        return f"expected calls of {[name for name, _ in wanted]}, found {[name for name, _ in found]}", False
    if found != wanted:
        return f"expected the arguments {[a for _, a in wanted]}, found {[a for _, a in found]}", False
    return None, read.content.strip() == shown.reply.text and read.reasoning.strip() == shown.reply.reasoning


def _likeness(own: str, text: str, ends: Sequence[str]) -> int:
    for end in ends:
        text = text.removesuffix(end)
    if own == text:
        return _SAME
    return _NEARLY if "".join(text.split()).endswith("".join(own.split())) else 0
