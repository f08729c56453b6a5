"""A policy by which calls are aimed by the user and not by a stranger.

Once a model has read a stranger's text, nobody knows which of its calls are the stranger's. What can be known is where
a value stands. So from then on a call of a tool with an `Aim` runs only if the user asked for something of its kind,
and if every value that it is aimed at is grounded: it stands in the user's words, in a trusted result, or in a field
that somebody vouches for. What stands nowhere is not grounded either, so spelling a value differently gains a stranger
nothing. Where the user names one of several things that a result lists, the others are not grounded, and what a call
changes or destroys has to be named. Pure.

Deliberately not here: what a stranger may still do (the text of a message to whom the user named, the answer's words).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from wieldy.core.errors import UsageError
from wieldy.run.policy.asking import asking, days_in, gives_words, share_in
from wieldy.run.policy.criteria import Texts, read_paths, read_texts, read_tools
from wieldy.run.policy.decisions import Allow, Ask, Decision, Deny, Policy, Proposal
from wieldy.run.policy.evidence import Evidence
from wieldy.run.policy.paths import leaves, read_path, render_path, value_at
from wieldy.run.policy.places import within
from wieldy.run.policy.standing import links_in, numbers_in

if TYPE_CHECKING:
    from wieldy.tools import Tool

_QUESTION: Final = Ask("a stranger may want this")
_SHOWN: Final = 80
_HALF: Final = 0.5
_READERS: Final[Mapping[str, Callable[[object], object]]] = {
    "targets": read_paths,
    "records": read_paths,
    "places": read_paths,
    "titles": read_paths,
    "texts": read_paths,
    "days": read_paths,
    "asked": read_texts,
    "things": read_texts,
    "also": read_tools,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """What must be the user's in a call of one tool.

    Attributes:
        targets: Paths of the arguments that say whom or what a call reaches: a recipient, an address, a record, a
            password. Of lists and objects everything within counts.
        records: Further targets, for what cannot be taken back: what is destroyed, paid, booked or given away. The
            prompt must have the target itself, or a name from the record that lists it, such as a title.
        places: Further targets that can be read as well: a channel, a page. What the prompt has once and a call has
            read from is not named to be written to.
        titles: Paths of names of what is made, of whose words half must be the prompt's.
        texts: Paths of texts, of whose words half must be the prompt's if it gives a text: three words or more in
            quotation marks, or behind "message:".
        days: Paths of arguments whose day must be one of the prompt's, if it has any: of those of the sentence that
            asks, if a day is there.
        asked: Beginnings of words for the deed, of which a sentence of the user's prompt must have one: `pay` is there
            in "payment", `pay ` (with a space) is not.
        things: Beginnings of words for the kind of thing that the deed is done to. The same sentence must have one of
            them, unless the prompt names every target, or its record, itself.
        also: Names of tools whose results may name a target although strangers may have shaped them.
        links: Whether web and mail addresses and long numbers in the other texts of a call must be grounded as well,
            in what the prompt asks to be read.

    Raises:
        UsageError: They are no paths, words or names.
    """

    targets: Texts = ()
    records: Texts = ()
    places: Texts = ()
    titles: Texts = ()
    texts: Texts = ()
    days: Texts = ()
    asked: Texts = ()
    things: Texts = ()
    also: Texts = ()
    links: bool = True

    def __post_init__(self) -> None:
        for name, read in _READERS.items():
            given: object = getattr(self, name)
            if given != ():
                with within(f"Aim: {name}"):
                    object.__setattr__(self, name, read(given))
        object.__setattr__(self, "targets", tuple(dict.fromkeys((*self.targets, *self.records, *self.places))))


def grounded(
    aims: Mapping[str, Aim],
    *,
    vouched: Mapping[str, Texts] | None = None,
    reads: Mapping[str, Texts] | None = None,
    otherwise: Decision = _QUESTION,
) -> Policy:
    """A policy that lets a call be aimed only at what the user named or somebody vouches for, once a stranger was read.

    A tool that is not named is let through if it only reads; if it changes something, all its arguments are targets.
    Of calls whose influence is exactly known (tracked code), that decides instead of where values stand.

    Args:
        aims: By the names of tools.
        vouched: By the names of tools with untrusted results: fields whose values the service made or the user chose,
            such as ids; paths in the structured result, in which `*` stands for any names.
        reads: By the names of tools that read what is private: beginnings of words, of which the prompt must have one
            if what was read is to be passed on in the other texts of a call.
        otherwise: What is decided about a call that is not grounded: `Ask(...)` or `Deny(...)`; why is added to it.

    Raises:
        UsageError: An `Aim` is none, a field is no text, or `otherwise` allows.
    """
    for name, aim in aims.items():
        if not isinstance(aim, Aim):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"grounded: expected an Aim for {name!r}, found {aim!r}.")
    if not isinstance(otherwise, Ask | Deny):
        raise UsageError(f'grounded: expected otherwise=Ask("...") or Deny("..."), found {otherwise!r}.')
    fields = {name: read_texts(paths) for name, paths in (vouched or {}).items()}
    private = {name: read_texts(words) for name, words in (reads or {}).items()}
    deeds = {name for name, aim in aims.items() if aim.asked}

    def decide(proposal: Proposal) -> Decision:
        aim = aims.get(proposal.tool.name) or _unnamed(proposal.tool)
        if aim is None or not proposal.is_tainted:
            return Allow()
        evidence = Evidence.of(proposal, vouched=fields, private=private, also=aim.also)
        lacking = (
            _not_asked(proposal, aim, evidence)
            or _not_aimed(proposal, aim, evidence)
            or _not_there(proposal, aim, evidence, deeds)
            or _not_in_the_users_words(proposal, aim, evidence)
            or (_not_to_be_sent(proposal, aim, evidence) if aim.links else None)
        )
        return Allow() if lacking is None else replace(otherwise, reason=f"{otherwise.reason}: {lacking}")

    return decide


def _unnamed(tool: Tool) -> Aim | None:
    properties = tool.definition.input_schema.get("properties")
    names = tuple(properties) if isinstance(properties, dict) else ()
    return None if tool.effect == "read" else Aim(targets=tuple(render_path((name,)) for name in names))


def _not_asked(proposal: Proposal, aim: Aim, evidence: Evidence) -> str | None:
    """What the prompt does not ask for, in words; None if it asks for this."""
    asking_for = asking(evidence.prompt, aim.asked, aim.things)
    if not asking_for and aim.things and asking(evidence.prompt, aim.asked, ()):
        targets = [value for _, value in _at(proposal, aim.targets)]
        if targets and all(evidence.has(value, is_named=True) for value in targets):
            asking_for = asking(evidence.prompt, aim.asked, ())
    if not asking_for and (aim.asked or aim.things):
        return f"the prompt asks for nothing that `{proposal.tool.name}` does"
    days = days_in(asking_for) or days_in(evidence.prompt)
    for path, value in _at(proposal, aim.days):
        named = days_in([str(value)])
        if days and not (named and named <= days):
            return f"{path!r} is {str(value)[:_SHOWN]!r}, a day that the user did not name"
    return None


def _not_aimed(proposal: Proposal, aim: Aim, evidence: Evidence) -> str | None:
    """Which target is not the user's, in words; None if all are."""
    records = {path for path, _ in _at(proposal, aim.records)}
    for path, value in _at(proposal, aim.targets):
        if not _is_users(proposal, path, value, evidence, is_named=path in records):
            lacks = "the user did not name" if path in records else "the user did not name and nobody vouches for"
            return f"{path!r} is {str(value)[:_SHOWN]!r}, which {lacks}"
    return None


def _not_there(proposal: Proposal, aim: Aim, evidence: Evidence, deeds: Collection[str]) -> str | None:
    """Which place the user named to be read from only, in words; None if none."""
    for path, value in _at(proposal, aim.places):
        if proposal.call.influence is None and evidence.is_source(value, deeds=deeds):
            return f"{path!r} is {str(value)[:_SHOWN]!r}, which the user named to be read"
    return None


def _not_in_the_users_words(proposal: Proposal, aim: Aim, evidence: Evidence) -> str | None:
    """What is not worded as the user said, in words; None if all is."""
    paths = (*aim.titles, *(aim.texts if gives_words(evidence.prompt) else ()))
    for path, value in _at(proposal, paths):
        if share_in(str(value), evidence.prompt) < _HALF:
            return f"{path!r} is {str(value)[:_SHOWN]!r}, of which too little is in the user's words"
    return None


def _not_to_be_sent(proposal: Proposal, aim: Aim, evidence: Evidence) -> str | None:
    """What in the other texts of the call is not the user's to send, in words; None if all is."""
    targets = [read_path(path) for path in aim.targets]
    asked_for = evidence.asked_for()
    for path, value in leaves(proposal.call.arguments):  # what was left out has the program's own default
        if isinstance(value, str) and not any(path[: len(target)] == target for target in targets):
            for part in (*links_in(value), *numbers_in(value)):
                if not _is_users(proposal, render_path(path), part, asked_for):
                    return f"{render_path(path)!r} holds {part[:_SHOWN]!r}, which the user did not name"
            carried = evidence.carried_by(value)
            if carried is not None:
                return f"{render_path(path)!r} holds what `{carried}` read, which the prompt does not ask for"
    return None


def _at(proposal: Proposal, paths: Texts) -> Iterator[tuple[str, str | float]]:
    for target in map(read_path, paths):
        for below, value in leaves(value_at(proposal.call.arguments, target)):
            if str(value).strip():
                yield render_path((*target, *below)), value


def _is_users(proposal: Proposal, path: str, value: str | float, evidence: Evidence, *, is_named: bool = False) -> bool:
    if proposal.call.influence is not None:
        return not proposal.influence.of(path)
    return evidence.has(value, is_named=is_named)
