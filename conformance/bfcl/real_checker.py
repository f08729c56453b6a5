"""The leaderboard's own checker, imported from an unpacked wheel, with stubs for all that it imports and does not need.

For comparison only, in a process of its own: it evaluates expressions that it is given.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

STUBS = (
    "tenacity",
    "bfcl_eval.constants.model_config",
    "bfcl_eval.constants.default_prompts",
    "bfcl_eval.model_handler.parser.java_parser",
    "bfcl_eval.model_handler.parser.js_parser",
    "bfcl_eval.model_handler.parser.json_parser",
    "bfcl_eval.model_handler.parser.xml_parser",
)


class RealChecker:
    """The checker in `bfcl_eval/` below the folder."""

    def __init__(self, folder: Path) -> None:
        for name in STUBS:
            sys.modules[name] = _Anything(name)
        config = SimpleNamespace(underscore_to_dot=False)
        sys.modules["bfcl_eval.constants.model_config"].MODEL_CONFIG_MAPPING = defaultdict(lambda: config)  # type: ignore[attr-defined]
        sys.path.insert(0, str(folder))
        from bfcl_eval.constants.enums import Language, ReturnFormat
        from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker
        from bfcl_eval.model_handler.utils import ast_parse
        from bfcl_eval.utils import is_empty_output, is_function_calling_format_output

        self._languages: dict[str, Any] = {
            "python": Language.PYTHON,
            "java": Language.JAVA,
            "javascript": Language.JAVASCRIPT,
        }
        self._check = ast_checker
        self._decode = lambda text: ast_parse(text, ReturnFormat.PYTHON)
        self._is_calls = is_function_calling_format_output
        self._is_empty = is_empty_output

    def error_of_text(self, task: Any, text: str) -> str | None:
        """What it says of Python that a model wrote; None if it is right."""
        try:
            calls = self._decode(text)
        except Exception:
            calls = None
        wanted = task.category.wanted
        if wanted != "calls":
            has_call = calls is not None and not self._is_empty(calls)
            if wanted == "no call":
                return "irrelevance_error:decoder_success" if has_call else None
            return None if has_call else "relevance_error:decoder_failed"
        if calls is None:
            return "ast_decoder:decoder_failed"
        if not self._is_calls(calls):
            return "ast_decoder:decoder_wrong_output_format"
        return self.error_of_calls(task, calls)

    def error_of_calls(self, task: Any, calls: list[Any]) -> str | None:
        """What it says of decoded calls; `checker_crash` where it ends with an exception."""
        functions, answers = list(task.functions), list(task.answers)
        category = task.category
        try:
            said = self._check(functions, calls, answers, self._languages[category.language], category.name, "any")
        except Exception:
            return "checker_crash"
        return None if said["valid"] else said["error_type"]


class _Anything(ModuleType):
    """A module that has every name; none of them is used in what is compared."""

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return []
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: lambda function: function
