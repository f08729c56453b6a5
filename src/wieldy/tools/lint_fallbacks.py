"""Whether the tool that another one names as its fallback could answer for it: the part of `lint` that needs both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from wieldy.schema import nearest
from wieldy.tools.tool import Tool


def fallback_problem(tool: Tool, by_name: Mapping[str, Tool]) -> tuple[str, str] | None:
    """The rule that is broken and the end of a sentence about it; None if there is nothing to say."""
    if tool.fallback is None:
        return None
    other = by_name.get(tool.fallback)
    if other is None:
        hint = nearest(tool.fallback, [name for name in by_name if name != tool.name])
        meant = f" (meant `{hint}`?)" if hint else ""
        return (
            "fallback-unknown",
            f"`{tool.fallback}`{meant}, which is not among these tools. Give that tool to the agent as well.",
        )
    reasons = _misfits(_parameters(tool), _parameters(other))
    if reasons:
        return (
            "fallback-unfit",
            f"`{other.name}`, which cannot take the same arguments: {' and '.join(reasons)}. Give both the same "
            "parameters.",
        )
    if tool.effect == "read" and other.effect != "read":
        return (
            "fallback-unfit",
            f"`{other.name}`, which is {other.effect!r}: a call that was meant to change nothing would then change "
            "something. Name a tool that only reads.",
        )
    return None


def _misfits(known: Mapping[str, bool], wanted: Mapping[str, bool]) -> list[str]:
    strange = [name for name in known if name not in wanted]
    lacking = [name for name, is_required in wanted.items() if is_required and not known.get(name)]
    return [
        *([f"it does not know {_quoted(strange)}"] if strange else []),
        *([f"it needs {_quoted(lacking)}"] if lacking else []),
    ]


def _parameters(tool: Tool) -> dict[str, bool]:
    """Those of the tool, and whether each must be given."""
    properties, required = (tool.definition.input_schema.get(key) for key in ("properties", "required"))
    names = properties if isinstance(properties, dict) else {}
    return {name: isinstance(required, list) and name in required for name in names}


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
