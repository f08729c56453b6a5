"""The benchmark's own words for prompts: constants of its code, which are read from the syntax tree and never run.

Deliberately not here: what is made of them (`conversations.data`, `memory.data`, `prompted.prompt`).
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from wieldy.core.errors import UsageError
from wieldy.evals.bfcl.data import BfclData

PROMPTS: Final = "constants/default_prompts.py"
TASKS: Final = "utils.py"
PINNED: Final = {
    PROMPTS: "4cc033be99ae2b10bbde30e7751ddcac5468cb45841b6dc7b3a97b92adf38205",
    TASKS: "3703b9bb63f83581c60b8e0b82aac74c360c9ca781e99e7d4eb28b0cce2285dd",
}
"""The SHA-256 of the modules that have them, as `bfcl_eval` 2026.3.23 has them."""
_HINTS: Final = "_get_language_specific_hint"


def prompts_of(data: BfclData) -> Mapping[str, Any]:
    """The constants of its module of prompts that are literals, by name.

    Raises:
        UsageError: There is no such file, or it is another one.
    """
    found = dict[str, Any]()
    for statement in _read(data, PROMPTS).body:
        if isinstance(statement, ast.Assign):
            with suppress(ValueError):  # what is made of others is made of them again where it is needed
                found[ast.unparse(statement.targets[0])] = ast.literal_eval(statement.value)
    return found


def python_hint(data: BfclData) -> str:
    """What it adds to the description of each function of Python.

    Raises:
        UsageError: There is no such file, or it is another one.
    """
    for statement in _read(data, TASKS).body:
        if isinstance(statement, ast.FunctionDef) and statement.name == _HINTS:
            returned = [node.value for node in ast.walk(statement) if isinstance(node, ast.Return)]
            texts = [each.value for each in returned if isinstance(each, ast.Constant)]
            return str(next(text for text in texts if "Python" in str(text)))
    raise UsageError(f"{data.place}: expected a function {_HINTS} in {TASKS}, found none.")


def _read(data: BfclData, name: str) -> ast.Module:
    file = data.package.joinpath(name)
    source = file.read_bytes() if file.is_file() else b""
    if hashlib.sha256(source).hexdigest() != PINNED[name]:
        raise UsageError(
            f"Expected the prompts of the pinned version in {file}, found none or others. Name the pinned wheel: "
            "--data WHEEL."
        )
    return ast.parse(source)
