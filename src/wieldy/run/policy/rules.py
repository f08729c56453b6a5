"""Rules as data: an ordered list of which the first that matches decides, and a default for the rest.

    Rules([
        Rule(Allow(), effects="read"),
        Rule(Deny("refunds above 500 are made by hand"), tools="refund", where={"amount": above(500) | missing()}),
        Rule(Ask("a person looks at refunds", expires_after_s=3600), tools="refund"),
    ], default=Deny())

Everything that a rule names must be so for it to match; a rule that names nothing matches every call. Law: the decision
depends on the proposal and on the rules up to the first that matches, and on nothing else. Pure. Deliberately not here:
how rules are written as dictionaries (`notation`), several policies at once (`composition`), and what is doubtful about
rules (`doubts`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from wieldy.core.errors import UsageError
from wieldy.run.policy.decisions import Allow, Ask, Decision, Deny, Proposal
from wieldy.run.policy.notation import ALLOW, read_rules, rules_to_dict
from wieldy.run.policy.rule import Case, Rule, explained

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject


@dataclass(frozen=True, slots=True)
class Rules:
    """A policy: the first rule that matches decides, else the default.

    Attributes:
        rules: In order.
        default: What is decided about a call that no rule matches.

    Raises:
        UsageError: Something is no rule, or no decision.
    """

    rules: Sequence[Rule]
    _: KW_ONLY
    default: Decision = ALLOW

    def __post_init__(self) -> None:
        if isinstance(self.rules, str | Mapping) or not isinstance(self.rules, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"Rules: expected a list of rules, found {self.rules!r}.")
        object.__setattr__(self, "rules", tuple(self.rules))
        for index, rule in enumerate(self.rules):
            if not isinstance(rule, Rule):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise UsageError(f"rules[{index}]: expected a Rule, found {rule!r}.")
        if not isinstance(self.default, Allow | Deny | Ask):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f'Rules: expected the default Allow(), Deny("...") or Ask("..."), found {self.default!r}.')

    def __call__(self, proposal: Proposal) -> Decision:
        """The decision; a question also says where the arguments come from, if that is why it is asked."""
        case = Case(proposal)
        rule = self._first(case)
        return self.default if rule is None else explained(rule, case)

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Rules:
        """Rules that were written as a dictionary, as a JSON or TOML file gives one.

            {"default": "allow", "rules": [{"decision": "ask", "tools": "refund", "where": {"amount": {"above": 50}}}]}

        Raises:
            UsageError: Something in it is not what it should be; the text says where, and what should stand there.
        """
        rules, default = read_rules(data)
        return cls(rules, default=default)

    def to_dict(self) -> JsonObject:
        """The rules as `from_dict` reads them."""
        return rules_to_dict(self.rules, self.default)

    def rule_for(self, proposal: Proposal) -> Rule | None:
        """The rule that decides about the proposal; None if the default does."""
        return self._first(Case(proposal))

    def _first(self, case: Case) -> Rule | None:
        return next((rule for rule in self.rules if rule.matches(case)), None)
