"""Policies made of policies, and rules that many programs want.

Deliberately not here: the rules' own order (`rules`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from wieldy.core.errors import UsageError
from wieldy.run.policy.criteria import Texts
from wieldy.run.policy.decisions import Allow, Ask, Decision, Deny, Policy, Proposal, decide
from wieldy.run.policy.rule import Rule
from wieldy.run.policy.rules import Rules

_CHANGING: Final = ("idempotent", "keyed", "reconcile", "unsafe")
_NOT_FREELY_REPEATED: Final = ("keyed", "reconcile", "unsafe")


def strictest(*policies: Policy) -> Policy:
    """A policy that denies what one of these denies, and asks about what one of them asks about.

    They are asked in this order, until one denies. Where several ask, a person reads all the reasons, and the answer
    counts for the shortest time that one of them wants.

    Raises:
        UsageError: One of them is no function, or there are none.
    """
    if not policies or not all(map(callable, policies)):
        raise UsageError(f"strictest: expected one policy or more, each a function or Rules, found {policies!r}.")

    async def decide_strictly(proposal: Proposal) -> Decision:
        questions: list[Ask] = []
        for policy in policies:
            decision = await decide(policy, proposal)
            if isinstance(decision, Deny):
                return decision
            if isinstance(decision, Ask):
                questions.append(decision)
        return _together(questions) if questions else Allow()

    return decide_strictly


def careful(*, expires_after_s: float | None = None) -> Rules:
    """Rules that ask before every call that cannot be repeated freely: unsafe, undeclared, keyed or reconcile."""
    question = Ask("it may change something that cannot be undone or repeated", expires_after_s=expires_after_s)
    return Rules([Rule(question, effects=_NOT_FREELY_REPEATED)])


def ask_when_tainted(*, expires_after_s: float | None = None) -> Rules:
    """Rules that ask before a call that changes something, is destructive or of high risk, once a stranger was read.

    From the first untrusted result on, what the model does may be what that result's author wants. Reading goes on
    without questions; a tool that reads can still carry data out, so name those that reach strangers in a rule of your
    own: `Rule(Ask("..."), tools="fetch", tainted=True)`.
    """
    question = Ask("what the model has read may be meant to make it do this", expires_after_s=expires_after_s)
    return Rules(
        [
            Rule(question, effects=_CHANGING, tainted=True),
            Rule(question, destructive=True, tainted=True),
            Rule(question, risks="high", tainted=True),
        ]
    )


def deny_steered(targets: Mapping[str, Texts] | None = None) -> Rules:
    """Rules by which data from untrusted sources may not decide a destructive call, nor be its target.

    Denied is a call that is destructive, of high risk, or that cannot be repeated freely, if an untrusted source may
    have had a part in that it is made, or in what it is aimed at. What that is, `targets` says; of other tools every
    argument counts. How much is let through depends on how much is known: of a model's own calls, and of those of code
    that is not tracked, all that was read before had a part in everything.

    Args:
        targets: By the name of a tool, or a pattern: the paths of the arguments that say what a call acts on, such as
            `{"send_mail": "to"}`. Strangers may have a part in its other arguments. What is named here is guarded
            whatever it declares.

    Raises:
        UsageError: `targets` are no names or paths.
    """
    aimed, steered = dict(targets or {}), Deny("data from an untrusted source decides that it is made")
    target = Deny("data from an untrusted source says what it acts on")
    guarded: list[dict[str, Any]] = [{"destructive": True}, {"effects": _NOT_FREELY_REPEATED}, {"risks": "high"}]
    named: list[dict[str, Any]] = [{"tools": tuple(aimed)}] if aimed else []
    return Rules(
        [
            *(Rule(steered, decided=True, **which) for which in (*named, *guarded)),
            *(Rule(target, tools=name, influenced=paths) for name, paths in aimed.items()),
            *(Rule(Allow(), **which) for which in named),
            *(Rule(target, influenced=True, **which) for which in guarded),
        ]
    )


def _together(questions: Sequence[Ask]) -> Ask:
    times = [question.expires_after_s for question in questions if question.expires_after_s is not None]
    reasons = dict.fromkeys(question.reason for question in questions)
    return Ask("; ".join(reasons), expires_after_s=min(times, default=None))
