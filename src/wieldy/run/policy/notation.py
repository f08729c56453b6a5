"""Rules as dictionaries, as a JSON or TOML file gives them, and back.

    default = "deny"
    [[rules]]
    decision = "ask"
    reason = "a person looks at large refunds"
    expires_after_s = 3600
    tools = "refund"
    where = { amount = { above = 50 } }

Law: what was written and read again decides equally. Pure. Deliberately not here: what the fields may hold (`criteria`,
`conditions`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from wieldy.core.errors import UsageError
from wieldy.run.policy.conditions import Where
from wieldy.run.policy.decisions import Allow, Ask, Decision, Deny
from wieldy.run.policy.places import within
from wieldy.run.policy.rule import READERS, Rule
from wieldy.schema import nearest

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject, JsonValue

ALLOW: Final = Allow()

_DECISIONS: Final[Mapping[str, tuple[type[Decision], tuple[str, ...]]]] = {
    "allow": (Allow, ()),
    "deny": (Deny, ("reason",)),
    "ask": (Ask, ("reason", "expires_after_s")),
}
"""By what each is called: the decision, and what else is said about it."""

_ABOUT_DECISIONS: Final = ("decision", "reason", "expires_after_s")


def read_rules(data: object) -> tuple[tuple[Rule, ...], Decision]:
    """The rules and the default of a dictionary.

    Raises:
        UsageError: Something in it is not what it should be.
    """
    fields = _read_fields(data, ("rules", "default"))
    rules = fields.get("rules", [])
    if isinstance(rules, str | Mapping) or not isinstance(rules, Iterable):
        raise UsageError(f"rules: expected a list, found {rules!r}.")
    try:
        read = tuple(_read_rule(index, rule) for index, rule in enumerate(cast("Iterable[object]", rules)))
        with within("default"):
            return read, _read_default(fields.get("default", "allow"))
    except RecursionError as error:
        raise UsageError("rules: expected conditions of a few levels, found more than can be read.") from error


def rules_to_dict(rules: Iterable[Rule], default: Decision) -> JsonObject:
    """What `read_rules` reads as these rules and this default."""
    return {"default": _decision_to_dict(default), "rules": [_rule_to_dict(rule) for rule in rules]}


def _read_rule(index: int, data: object) -> Rule:
    with within(f"rules[{index}]"):
        fields = _read_fields(data, (*_ABOUT_DECISIONS, *READERS))
        about = {name: fields.pop(name) for name in _ABOUT_DECISIONS if name in fields}
        for name, value in fields.items():
            if value is None:  # such as a list that somebody has emptied: a rule without it would match everything
                raise UsageError(f"{name}: expected a value, found nothing. Leave the name out, too, if all are meant.")
        # Each field is checked by the rule itself; a dictionary's values have no types before that.
        return Rule(_read_decision(about), **cast("dict[str, Any]", fields))


def _read_default(data: object) -> Decision:
    return _read_decision({"decision": data} if isinstance(data, str) else _read_fields(data, _ABOUT_DECISIONS))


def _read_decision(about: dict[str, object]) -> Decision:
    name = about.pop("decision", None)
    if not isinstance(name, str) or name not in _DECISIONS:
        raise UsageError(f"expected the decision 'allow', 'deny' or 'ask', found {name!r}.")
    decision, sayable = _DECISIONS[name]
    for said, value in about.items():
        if said not in sayable:
            raise UsageError(f"expected no {said!r} beside the decision {name!r}, found {value!r}.")
    return decision(**cast("dict[str, Any]", about))


def _read_fields(data: object, known: tuple[str, ...]) -> dict[str, object]:
    if not isinstance(data, Mapping):
        raise UsageError(f"expected a dictionary with {', '.join(map(repr, known))}, found {data!r}.")
    fields = dict(cast("Mapping[str, object]", data))
    for name in fields:
        if name not in known:
            meant = nearest(name, known) if isinstance(name, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]
            instead = f"Did you mean {meant!r}?" if meant else f"Expected {', '.join(map(repr, known))}."
            raise UsageError(f"{name!r} is not known. {instead}")
    return fields


def _rule_to_dict(rule: Rule) -> JsonObject:
    data = _decision_to_dict(rule.decision)
    for name in READERS:
        value: object = getattr(rule, name)
        if value is not None:
            data[name] = _as_json(value)
    return data


def _decision_to_dict(decision: Decision) -> JsonObject:
    name = type(decision).__name__.casefold()
    said: JsonObject = {field: getattr(decision, field) for field in _DECISIONS[name][1]}
    return {"decision": name, **{field: value for field, value in said.items() if value is not None}}


def _as_json(value: object) -> JsonValue:
    if isinstance(value, Where):
        return cast("JsonValue", value.to_dict())
    return cast("JsonValue", list(cast("tuple[str, ...]", value)) if isinstance(value, tuple) else value)
