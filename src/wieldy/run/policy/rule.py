"""One rule: what is decided, and about which calls; everything that it names must be so.

Pure. Deliberately not here: what happens where several rules match (`rules`), and what a rule may name (`criteria`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Final, cast

from wieldy.core.errors import UsageError
from wieldy.run.policy.conditions import Wanted, Where, read_where
from wieldy.run.policy.criteria import (
    Texts,
    read_effects,
    read_paths,
    read_permission,
    read_risks,
    read_texts,
    read_tools,
    read_truth,
)
from wieldy.run.policy.decisions import Allow, Ask, Decision, Deny, Proposal
from wieldy.run.policy.paths import with_defaults
from wieldy.run.policy.places import within
from wieldy.run.policy.provenance import Provenance, few, named, provenance_of

if TYPE_CHECKING:
    from wieldy.core.influence import Influence
    from wieldy.core.json import JsonObject
    from wieldy.tools import Tool


class Case:
    """A proposal, and what can be worked out of it; each only if a rule asks, and once."""

    def __init__(self, proposal: Proposal) -> None:
        self.proposal = proposal

    @cached_property
    def arguments(self) -> JsonObject:
        """The arguments as the tool will see them, with the defaults of those that were left out."""
        return with_defaults(self.proposal.call.arguments, self.proposal.tool.definition.input_schema)

    def is_quoted(self, wanted: bool | Texts) -> bool:
        """Whether values of arguments, or of those at the paths, stand in untrusted results."""
        if self.proposal.call.influence is not None:
            return _is_influenced(self.proposal.influence, wanted)
        quoted = self.provenance.quoted
        if isinstance(wanted, bool):
            return bool(quoted) is wanted
        return any(path == each or path.startswith(f"{each}.") for path in quoted for each in wanted)

    @cached_property
    def provenance(self) -> Provenance:
        """Where the arguments may come from."""
        return provenance_of(self.proposal)


@dataclass(frozen=True, slots=True)
class Rule:
    """What is decided about the calls that are as it says; what is left out may be anything.

    Attributes:
        decision: About a call that matches.
        tools: Its tool's name, or one of several; `*`, `?` and `[...]` stand for letters, as in names of files.
        effects: Its tool's effect, or one of several; a tool that declares none is `unsafe`.
        risks: Its tool's risk, or one of several; a tool that declares none has none of them.
        destructive: What its tool's annotations say about this; where they say nothing, neither matches.
        open_world: Likewise.
        where: What its arguments must be, by their paths: conditions, or values that must be equal.
        principals: The name of whom the run acts for, or one of several, with `*` as in `tools`.
        holds: A permission that the principal has.
        lacks: A permission that the principal does not have, or there is no principal.
        tainted: Whether an untrusted source may have had a part in the call: something of one was read before, or of
            calls that tracked code makes, its data had a part in them.
        quoted: Whether some argument's value stands in an untrusted result; or paths of arguments, of one of which this
            is so. Of calls that tracked code makes: as `influenced`.
        influenced: Whether an untrusted source may have had a part in some argument's value; or paths of arguments, of
            one of which this is so.
        decided: Whether an untrusted source may have had a part in that the call is made.
        sources: The untrusted source's name, or one of several, with `*` as in `tools`: `tainted`, `influenced` and
            `decided` are about no others. On its own: such a source may have had a part in the call.

    Raises:
        UsageError: Something is not what it should be; the text says what should stand there.
    """

    decision: Decision
    _: KW_ONLY
    tools: Texts | None = None
    effects: Texts | None = None
    risks: Texts | None = None
    destructive: bool | None = None
    open_world: bool | None = None
    where: Mapping[str, Wanted] | Where | None = None
    principals: Texts | None = None
    holds: str | None = None
    lacks: str | None = None
    tainted: bool | None = None
    quoted: bool | Texts | None = None
    influenced: bool | Texts | None = None
    decided: bool | None = None
    sources: Texts | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.decision, Allow | Deny | Ask):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f'Rule: expected a decision: Allow(), Deny("...") or Ask("..."), found {self.decision!r}.')
        for name, read in READERS.items():
            given: object = getattr(self, name)
            if given is not None:
                with within(name):
                    object.__setattr__(self, name, read(given))

    def matches(self, case: Case) -> bool:
        """Whether the call is as the rule says. Cost: what reads the whole context is asked last."""
        return (
            self.suits(case.proposal.tool)
            and self._suits_principal(case.proposal)
            and self._suits_influence(case.proposal)
            and (self.where is None or cast("Where", self.where).holds(case.arguments))
            and (self.quoted is None or case.is_quoted(self.quoted))
        )

    @property
    def is_about_influence(self) -> bool:
        """Whether it matches because an untrusted source may have had a part in the call."""
        return bool(self.tainted or self.influenced or self.decided or self.sources)

    def suits(self, tool: Tool) -> bool:
        """Whether there may be calls of this tool that match."""
        annotations = tool.definition.annotations
        return (
            _fits(tool.name, self.tools)
            and (self.effects is None or tool.effect in self.effects)
            and (self.risks is None or (tool.risk is not None and tool.risk in self.risks))
            and self.destructive in (None, annotations.destructive)
            and self.open_world in (None, annotations.open_world)
        )

    def _suits_influence(self, proposal: Proposal) -> bool:
        influence, is_tainted = proposal.influence, proposal.is_tainted
        if self.sources is not None:
            influence = influence.among(lambda name: _fits(name, self.sources))
            is_tainted = bool(influence.sources)
            if (self.tainted, self.influenced, self.decided) == (None, None, None):
                return is_tainted
        return (
            self.tainted in (None, is_tainted)
            and self.decided in (None, bool(influence.decided_by))
            and (self.influenced is None or _is_influenced(influence, self.influenced))
        )

    def _suits_principal(self, proposal: Proposal) -> bool:
        principal = proposal.principal
        return (
            (self.principals is None or (principal is not None and _fits(principal.name, self.principals)))
            and (self.holds is None or (principal is not None and principal.may(self.holds)))
            and (self.lacks is None or principal is None or not principal.may(self.lacks))
        )


READERS: Final[Mapping[str, Callable[[object], object]]] = {
    "tools": read_tools,
    "effects": read_effects,
    "risks": read_risks,
    "destructive": read_truth,
    "open_world": read_truth,
    "where": read_where,
    "principals": read_texts,
    "holds": read_permission,
    "lacks": read_permission,
    "tainted": read_truth,
    "quoted": read_paths,
    "influenced": read_paths,
    "decided": read_truth,
    "sources": read_texts,
}
"""How what a rule may name is read, by the names of its fields."""


def _fits(name: str, patterns: Texts | None) -> bool:
    return patterns is None or any(fnmatchcase(name, pattern) for pattern in patterns)


def _is_influenced(influence: Influence, wanted: bool | Texts) -> bool:
    if isinstance(wanted, bool):
        return bool(influence.arguments) is wanted
    return any(influence.of(path) for path in wanted)


def explained(rule: Rule, case: Case) -> Decision:
    """The rule's decision; a question also says where the arguments come from, if that is why it is asked."""
    # What is known exactly is said with every question, whatever the rule.
    if not isinstance(rule.decision, Ask) or case.proposal.call.influence is not None:
        return rule.decision
    notes: list[str] = []
    if rule.quoted:
        quotes = [f"{path[:80]!r} in {named(sources)}" for path, sources in case.provenance.quoted.items()]
        notes.append(f"stands in an untrusted result: {few(quotes)}")
    elif rule.is_about_influence and case.provenance.shaped_by:
        notes.append(f"after untrusted results of {named(case.provenance.shaped_by)}")
    return replace(rule.decision, reason=" ".join([rule.decision.reason, *(f"({note})" for note in notes)]))
