"""Holding the right to go on with a run: its lease is renewed while the run is at work, and given back afterwards.

Deliberately not here: who may take a lease (`journal.leases`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from wieldy.core.errors import JournalError, RunBusyError

if TYPE_CHECKING:
    from wieldy.core.ports import Lease


@contextmanager
def held(lease: Lease) -> Generator[None]:
    """The lease is good for as long as this is entered; within an event loop.

    One that is lost is not renewed any more: the next entry that is written finds out.
    """
    loop = asyncio.get_running_loop()

    def renew() -> None:
        nonlocal next_time
        try:
            lease.renew()
        except RunBusyError:
            return
        except JournalError:  # it may be reachable again before the lease has run out
            pass
        next_time = loop.call_later(lease.renew_after_s, renew)

    next_time = loop.call_later(lease.renew_after_s, renew)  # a timer costs a fraction of a task
    try:
        yield
    finally:
        next_time.cancel()
        release(lease)


def release(lease: Lease) -> None:
    """The lease is free; one that cannot be given back runs out."""
    with suppress(JournalError):  # what happened before matters more
        lease.release()
