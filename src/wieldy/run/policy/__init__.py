"""What may run: decisions, rules as data, where arguments come from, and who is asked.

The order in which to read: `decisions` (the ports), `conditions` and `rule`, `rules`; `permissions` stands before every
policy, `composition` around several, `grounding` is a policy of its own, over `asking` and `evidence`.
"""

from wieldy.run.policy.composition import ask_when_tainted, careful, deny_steered, strictest
from wieldy.run.policy.conditions import (
    Condition,
    above,
    at_least,
    at_most,
    below,
    contains,
    equals,
    every,
    fields,
    matches,
    missing,
    one_of,
    some,
)
from wieldy.run.policy.decisions import (
    Allow,
    Approver,
    Ask,
    Decision,
    Deny,
    Policy,
    Proposal,
    allow_all,
    consult,
    decide,
)
from wieldy.run.policy.doubts import doubts, unreachable
from wieldy.run.policy.grounding import Aim, grounded
from wieldy.run.policy.permissions import permitted
from wieldy.run.policy.provenance import Provenance, provenance_of
from wieldy.run.policy.rule import Rule
from wieldy.run.policy.rules import Rules

__all__ = [
    "Aim",
    "Allow",
    "Approver",
    "Ask",
    "Condition",
    "Decision",
    "Deny",
    "Policy",
    "Proposal",
    "Provenance",
    "Rule",
    "Rules",
    "above",
    "allow_all",
    "ask_when_tainted",
    "at_least",
    "at_most",
    "below",
    "careful",
    "consult",
    "contains",
    "decide",
    "deny_steered",
    "doubts",
    "equals",
    "every",
    "fields",
    "grounded",
    "matches",
    "missing",
    "one_of",
    "permitted",
    "provenance_of",
    "some",
    "strictest",
    "unreachable",
]
