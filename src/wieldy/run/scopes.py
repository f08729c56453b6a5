"""Closes what code has left open of anyio's cancel scopes and groups of tasks in the task in which it ran.

Nothing else could: a scope that is left open keeps those around it from being closed, which are ours and our caller's,
and goes on to cancel whatever their task does next. Deliberately not here: what asyncio's own groups and time limits
leave behind, of which nobody is told.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
from collections.abc import Mapping
from typing import Any, Final

# Not public, and there is no public way to learn in which scope a task is. Without it nothing is found open.
_STATES: Final[Mapping[Any, Any]] = getattr(importlib.import_module("anyio._backends._asyncio"), "_task_states", {})


class OpenScopes:
    """Of the current task, from now on."""

    __slots__ = ("_around", "_state", "_task")

    def __init__(self) -> None:
        self._task = asyncio.current_task()
        self._state = _STATES.get(self._task)
        self._around = self._innermost()

    def close(self) -> bool:
        """Those that were opened since are cancelled and closed; whether there were any."""
        if self._state is None:
            self._state = _STATES.get(self._task)
        was_open = False
        while (scope := self._innermost()) is not self._around and scope is not None:
            was_open = True
            with contextlib.suppress(BaseException):  # it may be of a class of its own
                scope.cancel()
                scope.__exit__(None, None, None)
            if self._innermost() is scope:
                break
        return was_open

    def _innermost(self) -> Any:
        return None if self._state is None else self._state.cancel_scope
