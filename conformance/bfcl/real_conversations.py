"""The leaderboard's own checker of conversations, imported from an unpacked wheel, each time as if for the first time.

For comparison only, in a process of its own: it evaluates what it is given. It keeps services in global variables, and
state in their modules; `check` forgets both afterwards, `check_again` does not.
"""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

_SIMULATORS = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code."
Turns = list[list[list[str]]]


class RealConversationChecker:
    """The checker in `bfcl_eval/` below the folder."""

    def __init__(self, folder: Path) -> None:
        sys.path.insert(0, str(folder))
        from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_checker, multi_turn_utils

        self._checker = multi_turn_checker
        self._kept = vars(multi_turn_utils)
        self._code = dict[str, CodeType]()

    def check(self, row: dict[str, Any], right: list[list[str]], turns: Turns) -> str | None:
        """What it says of a trial in a new process; `checker_crash` where it ends with an exception."""
        try:
            return self.check_again(row, right, turns)
        finally:
            self.forget()

    def check_again(self, row: dict[str, Any], right: list[list[str]], turns: Turns) -> str | None:
        """What it says of a trial after all those before in this process."""
        category = row["id"].rpartition("_")[0]
        try:
            with redirect_stdout(io.StringIO()):  # what models write may print
                said = self._checker.multi_turn_checker(turns, right, row, category, "model")
        except Exception:
            return "checker_crash"
        return None if said["valid"] else said["error_type"]

    @property
    def kept_instances(self) -> int:
        """How many services it keeps."""
        return sum(name.endswith("_instance") for name in self._kept)

    def forget(self) -> None:
        """It is as in a new process."""
        for name in [name for name in self._kept if name.endswith("_instance")]:
            del self._kept[name]
        for name in [name for name in sys.modules if name.startswith(_SIMULATORS)]:
            if name not in self._code:
                self._code[name] = import_module(name).__spec__.loader.get_code(name)  # type: ignore[union-attr]
            del sys.modules[name]
        for name in sorted(self._code, key=lambda name: not name.endswith("long_context")):  # which the others import
            sys.modules[name] = ModuleType(name)
            exec(self._code[name], vars(sys.modules[name]))
