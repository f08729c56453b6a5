"""A coroutine that runs within a context of its own, without a task of its own."""

from __future__ import annotations

import contextvars
import types
from collections.abc import Callable, Coroutine, Generator
from functools import partial
from typing import Any, TypeVar

Result = TypeVar("Result")


@types.coroutine
def within(context: contextvars.Context, coroutine: Coroutine[Any, Any, Result]) -> Generator[Any, Any, Result]:
    """What the coroutine returns; what it sets in the context is not seen outside.

    A tenth of what a task costs. Whatever the coroutine waits for is waited for by the task that awaits this, and what
    is raised in that task meanwhile, a cancellation for instance, is raised in the coroutine.
    """
    go_on: Callable[[], Any] = partial(coroutine.send, None)
    while True:
        try:
            awaited = context.run(go_on)
        except StopIteration as ended:
            return ended.value
        try:
            sent = yield awaited
        except GeneratorExit:
            context.run(coroutine.close)
            raise
        except BaseException as error:  # passed on, whatever it is
            go_on = partial(coroutine.throw, error)
        else:
            go_on = partial(coroutine.send, sent)
