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
from functools import cache
from typing import Any


@cache
def _states() -> Mapping[Any, Any]:
    """In which scope each task is."""
    # Not public, and there is no public way to learn it; without it nothing is found open. It is heavy to import, and
    # in use when this is called.
    return getattr(importlib.import_module("anyio._backends._asyncio"), "_task_states", {})


class OpenScopes:
    """Of the current task, from now on."""

    __slots__ = ("_around", "_state", "_task")

    def __init__(self) -> None:
        self._task = asyncio.current_task()
        self._state = state = _states().get(self._task)
        self._around = None if state is None else state.cancel_scope

    def close(self) -> bool:
        """Those that were opened since are cancelled and closed; whether there were any."""
        state = _states().get(self._task) if self._state is None else self._state
        if state is None or state.cancel_scope is self._around:
            return False
        while (scope := state.cancel_scope) is not self._around and scope is not None:
            with contextlib.suppress(BaseException):  # it may be of a class of its own
                scope.cancel()
                scope.__exit__(None, None, None)
            if state.cancel_scope is scope:
                break
        return True
