"""The leaderboard's own prompts, and its own reading of what prompted models write, from an unpacked wheel.

For comparison only, in a process of its own: it evaluates expressions that it is given. Where `tree_sitter` and its
grammars of Java and JavaScript are not installed, these two languages cannot be read.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

HAS_GRAMMARS = all(
    importlib.util.find_spec(name) for name in ("tree_sitter", "tree_sitter_java", "tree_sitter_javascript")
)


UNREAD = "(cannot be read)"


class RealPrompting:
    """What is in `bfcl_eval/` below the folder."""

    def __init__(self, folder: Path) -> None:
        _stand_in()
        sys.path.insert(0, str(folder))
        from bfcl_eval.constants.enums import Language, ReturnFormat  # type: ignore[import-not-found]
        from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker  # type: ignore[import-not-found]
        from bfcl_eval.model_handler import utils as handling  # type: ignore[import-not-found]
        from bfcl_eval.utils import is_function_calling_format_output, load_dataset_entry

        self._language, self._form = Language, ReturnFormat
        self._check = ast_checker
        self._handling = handling
        self._is_calls = is_function_calling_format_output
        self._load = load_dataset_entry

    def prompts(self) -> dict[str, list[tuple[str, str]]]:
        """The messages of every task of format sensitivity, by its id."""
        found = dict[str, list[tuple[str, str]]]()
        for entry in self._load("format_sensitivity"):
            said = self._handling.system_prompt_pre_processing_chat_model(
                entry["question"][0], entry["function"], entry["id"]
            )
            found[entry["id"]] = [(message["role"], message["content"]) for message in said]
        return found

    def remembered(self, category: str, shown: str) -> dict[str, list[list[tuple[str, str]]]]:
        """The turns of every question from memory, and of every conversation before, by its id.

        Args:
            category: The kind of memory.
            shown: What the memory shows of itself.
        """
        memory = SimpleNamespace(_dump_core_memory_to_context=lambda: shown)
        found = dict[str, list[list[tuple[str, str]]]]()
        for entry in self._load(category):
            turns = self._handling.add_memory_instruction_system_prompt(
                entry["question"], category, entry["scenario"], memory
            )
            found[entry["id"]] = [[(said["role"], said["content"]) for said in turn] for turn in turns]
        return found

    def read(self, text: str, form: str, *, is_tagged: bool = False) -> Any:
        """What it reads, which need be no calls; `UNREAD` where it cannot."""
        try:
            return self._handling.default_decode_ast_prompting(text, self._form(form), is_tagged)
        except Exception:
            return UNREAD

    def error(self, task: Any, calls: Any) -> str | None:
        """What its checker says of what it has read; None if it is right."""
        if calls is UNREAD:
            return "ast_decoder:decoder_failed"
        if not self._is_calls(calls):
            return "ast_decoder:decoder_wrong_output_format"
        functions, answers, category = list(task.functions), list(task.answers), task.category
        try:
            said = self._check(functions, calls, answers, self._language(category.language), category.name, "any")
        except Exception:
            return "checker_crash"
        return None if said["valid"] else said["error_type"]


def _stand_in() -> None:
    config = ModuleType("bfcl_eval.constants.model_config")
    config.MODEL_CONFIG_MAPPING = {"any": SimpleNamespace(underscore_to_dot=False)}  # type: ignore[attr-defined]
    sys.modules[config.__name__] = config
    tenacity = ModuleType("tenacity")
    for name in ("retry", "retry_if_exception_message", "retry_if_exception_type", "wait_random_exponential"):
        setattr(tenacity, name, lambda *_, **__: lambda function: function)
    sys.modules["tenacity"] = tenacity
    if not HAS_GRAMMARS:
        for module, name in (("java_parser", "parse_java"), ("js_parser", "parse_javascript")):
            parser = ModuleType(f"bfcl_eval.model_handler.parser.{module}")
            setattr(parser, f"{name}_function_call", None)
            sys.modules[parser.__name__] = parser
