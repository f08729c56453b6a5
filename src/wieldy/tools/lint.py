"""What a model would stumble over in a set of tools, and what to do about it.

Pure: a toolset in, findings out; first about each tool, then about pairs and fallbacks, then about the set. Errors are
what is missing or false, warnings what often goes wrong, notes what could be better. What fails a build is decided by
whoever asks. The rules about single tools are a table in `lint_rules`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from wieldy.core.calls import ToolDefinition
from wieldy.tools.cost import token_cost
from wieldy.tools.likeness import THRESHOLD, likeness, words_of
from wieldy.tools.lint_fallbacks import fallback_problem
from wieldy.tools.lint_rules import RULES, Severity
from wieldy.tools.tool import Tool
from wieldy.tools.toolset import Toolset

MAX_SET_TOKENS = 4_000
"""An eighth of the context of a small local model, in every request."""
MAX_TOOLS = 20
"""Beyond this, models take the wrong tool noticeably more often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that a model would stumble over.

    Attributes:
        rule: Its stable name, such as `description-missing`.
        severity: How bad it is.
        tools: The names of the tools that it is about; empty for the whole set.
        message: What was found and what to do.
    """

    rule: str
    severity: Severity
    tools: tuple[str, ...]
    message: str


def lint(toolset: Toolset) -> tuple[Finding, ...]:
    """All findings about the tools and the set; empty if there is nothing to say.

    Cost: every pair of tools is compared, so the time grows with the square of their number.
    """
    tools = toolset.tools
    return (*_about_each(tools), *_about_pairs(tools), *_about_fallbacks(tools), *_about_the_set(tools))


def _about_each(tools: tuple[Tool, ...]) -> Iterator[Finding]:
    for tool in tools:
        for rule in RULES:
            message = rule.check(tool)
            if message is not None:
                yield Finding(
                    rule=rule.name, severity=rule.severity, tools=(tool.name,), message=f"`{tool.name}` {message}"
                )


def _about_pairs(tools: tuple[Tool, ...]) -> Iterator[Finding]:
    words = [words_of(tool.definition) for tool in tools]
    for (one, own), (other, foreign) in itertools.combinations(zip(tools, words, strict=True), 2):
        if _has_same_description(one.definition, other.definition):
            yield Finding(
                rule="description-same",
                severity="error",
                tools=(one.name, other.name),
                message=f"`{one.name}` and `{other.name}` have the same description, so a model can only guess between "
                "them. Say in each what sets it apart.",
            )
            continue
        score = likeness(own, foreign)
        if score >= THRESHOLD and not _are_told_apart(one.definition, other.definition):
            yield Finding(
                rule="alike",
                severity="warning",
                tools=(one.name, other.name),
                message=f"`{one.name}` and `{other.name}` read alike ({score:.2f} of 1), so a model will confuse them. "
                "Make them one tool, or say in use_when or avoid_when of one when the other is right, by its name.",
            )


def _has_same_description(one: ToolDefinition, other: ToolDefinition) -> bool:
    text = one.prompt_description.strip().casefold()
    return bool(text) and text == other.prompt_description.strip().casefold()


def _are_told_apart(one: ToolDefinition, other: ToolDefinition) -> bool:
    """Whether one of them says, by the other's name, when the other is right."""
    return _mentions(one, other.name) or _mentions(other, one.name)


def _mentions(definition: ToolDefinition, name: str) -> bool:
    texts = (definition.description, definition.use_when or "", definition.avoid_when or "")
    return any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) for text in texts)


def _about_fallbacks(tools: tuple[Tool, ...]) -> Iterator[Finding]:
    by_name = {tool.name: tool for tool in tools}
    for tool in tools:
        rule, what = fallback_problem(tool, by_name) or ("", "")
        if what:
            yield Finding(
                rule=rule, severity="warning", tools=(tool.name,), message=f"`{tool.name}` names the fallback {what}"
            )


def _about_the_set(tools: tuple[Tool, ...]) -> Iterator[Finding]:
    costs = {tool.name: token_cost(tool.definition) for tool in tools}
    total = sum(costs.values())
    if total > MAX_SET_TOKENS:
        dearest = sorted(costs, key=lambda name: costs[name], reverse=True)[:3]
        yield Finding(
            rule="set-cost",
            severity="warning",
            tools=(),
            message=f"The {len(tools)} tools take about {total} tokens of every request; more than {MAX_SET_TOKENS} is "
            f"a lot. The dearest: {', '.join(f'`{name}` ({costs[name]})' for name in dearest)}.",
        )
    if len(tools) > MAX_TOOLS:
        yield Finding(
            rule="set-size",
            severity="warning",
            tools=(),
            message=f"The set has {len(tools)} tools; beyond {MAX_TOOLS} models often take the wrong one. Give each "
            "agent only what its work needs, for instance with Toolset.filtered.",
        )
