"""What a self-test found out about one schema and one vocabulary."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from wieldy.core.json import JsonValue
from wieldy.grammar.enforcement import Enforcement

_SHOWN = 5
_SHOWN_CHARACTERS = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstraintReport:
    """What the mask of a schema let through, and what it refused.

    Attributes:
        enforcement: Every keyword of the schema, and who enforces it.
        problem: Why there is no mask, no text short enough, or no validator to ask; empty if all went well.
        walks: How many random texts were written under the mask.
        unended: How many of them did not end by themselves.
        no_json: Texts that are no JSON.
        silent: Texts that do not fit although the report says that the mask sees to it.
        left: Texts that do not fit, by the keyword that is left to the validator.
        deep: Texts that fit, and are nested deeper than Wieldy reads.
        examples: How many values that fit were tried: the schema's own, and one that was made from it.
        refused: Those of them that the mask refuses.
        reordered: How many of them it takes with their members in the schema's order only.
    """

    enforcement: tuple[Enforcement, ...]
    problem: str = ""
    walks: int = 0
    unended: int = 0
    no_json: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    left: Mapping[str, int] = field(default_factory=dict[str, int])
    deep: tuple[str, ...] = ()
    examples: int = 0
    refused: tuple[JsonValue, ...] = ()
    reordered: int = 0

    @property
    def is_sound(self) -> bool:
        """Whether there is a mask, every walk ended in JSON, and nothing got through that the report does not name."""
        return not (self.problem or self.unended or self.no_json or self.silent)

    def __str__(self) -> str:
        lines = [f"{'sound' if self.is_sound else 'NOT SOUND'}: {self.walks} walks"]
        if self.problem:
            lines = [f"not tested: {self.problem}"]
        lines += _listed("did not end", self.unended)
        lines += _listed("no JSON", len(self.no_json), map(_short, self.no_json))
        lines += _listed("do not fit, unsaid", len(self.silent), map(_short, self.silent))
        for keyword, count in self.left.items():
            lines.append(f"  left to the validator by `{keyword}`: {count} do not fit")
        lines += _listed("nested deeper than is read", len(self.deep), map(_short, self.deep))
        if self.examples:
            lines.append(f"{self.examples} examples: {self.examples - len(self.refused)} accepted")
        if self.reordered:
            lines.append(f"  accepted with members in the schema's order only: {self.reordered}")
        lines += _listed("refused", len(self.refused), (_short(json.dumps(one)) for one in self.refused))
        found = [entry for entry in self.enforcement if entry.by != "mask" or entry.reason]
        if found:
            masked = sum(entry.by == "mask" for entry in self.enforcement)
            lines.append(f"{masked} of {len(self.enforcement)} keywords by the mask; to know:")
            lines += [f"  {entry}" for entry in found]
        return "\n".join(lines)


def _listed(what: str, count: int, texts: Iterable[str] = ()) -> list[str]:
    return [f"  {what}: {count}", *(f"    {text}" for text in itertools.islice(texts, _SHOWN))] if count else []


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."
