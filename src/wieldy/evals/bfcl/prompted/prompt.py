"""What a model is told that writes its calls as text: the benchmark's own words, read from its constants.

Deliberately not here: how functions are described (`functions`), and calls (`reading`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from wieldy.evals.bfcl.prompted.forms import Form
from wieldy.evals.bfcl.prompted.functions import described

_LAYOUTS: Final = {
    "plaintext": "_PLAINTEXT_SYSTEM_PROMPT_TEMPLATE",
    "markdown": "_MARKDOWN_SYSTEM_PROMPT_TEMPLATE",
}
_STYLES: Final = "PROMPT_STYLE_TEMPLATES"
_EXAMPLES: Final = "OUTPUT_FORMAT_MAPPING"
_TYPES: Final = "PARAM_TYPE_MAPPING"


def system_prompt(form: Form, functions: Sequence[Mapping[str, Any]], words: Mapping[str, Any]) -> str:
    """The instructions in this form.

    Args:
        form: Of calls, functions and words.
        functions: As the benchmark describes them.
        words: The benchmark's constants (`prompts_of`).

    Raises:
        KeyError: A constant is missing.
    """
    style: Mapping[str, str] = words[_STYLES][form.style]
    wanted = style["tool_call_with_tag" if form.is_tagged else "tool_call_no_tag"]
    calls = wanted.format(output_format=words[_EXAMPLES][form.calls], param_types=words[_TYPES][form.calls])
    return words[_LAYOUTS[form.layout]].format(
        persona=style["persona"],
        task=style["task"],
        tool_call_format=calls,
        multiturn_behavior=style["multiturn_behavior"],
        available_tools=style["available_tools"].format(
            format=form.functions, functions=described(functions, form.functions)
        ),
    )


def with_system_prompt(messages: Sequence[tuple[str, str]], prompt: str) -> list[tuple[str, str]]:
    """The messages behind the prompt; a system message that is there already comes after it."""
    role, text = messages[0] if messages else ("", "")
    if role == "system":
        return [("system", f"{prompt}\n\n{text}"), *messages[1:]]
    return [("system", prompt), *messages]
