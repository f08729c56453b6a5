"""What the SDK logs about servers of ours: nothing, unless its logger is set to debugging.

It logs what it cannot read with all that the server has said, a line for each message: a credential that a server
repeats would stand there, and a server that repeats it often keeps the program busy with writing. What of it matters
comes as an error or a notice. Other users of the SDK in this process are not touched.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

_LOGGERS: Final = (
    "",  # where version 1 logs messages that it cannot read
    "client",
    "mcp.client.client",
    "mcp.client.session",
    "mcp.client.sse",
    "mcp.client.streamable_http",
)
_OF_SDK: Final = f"{os.sep}mcp{os.sep}"

_is_ours: ContextVar[bool] = ContextVar("_is_ours", default=False)


class _NotOurs(logging.Filter):
    """Passes what is about connections of others."""

    def filter(self, record: logging.LogRecord) -> bool:
        is_about_ours = _is_ours.get() and _OF_SDK in record.pathname
        return not is_about_ours or logging.getLogger(record.name).isEnabledFor(logging.DEBUG)


_NOT_OURS: Final = _NotOurs()


@contextmanager
def unlogged() -> Generator[None]:
    """What the SDK does here, and in tasks that are started here, is not logged."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_NOT_OURS)  # once, however often it is added
    token = _is_ours.set(True)
    try:
        yield
    finally:
        _is_ours.reset(token)
