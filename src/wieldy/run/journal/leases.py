"""Who may go on with a run: the decisions, which all journals share; each keeps the claims in its own way.

Law: of all who ask for the lease of a run at once, one gets it. A claim is void at once when its process is dead, which
can be known in the same place (the same start of the same machine); elsewhere it is void when it was not renewed for
`LEASE_S`. A lease is the early, friendly refusal; what keeps two processes from doing the same thing twice even then is
that an append names the length of the run. The same process cannot hold a lease twice either, and a forked one holds
none of its parent's. Deliberately not here: where claims are stored.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Protocol
from weakref import WeakKeyDictionary, WeakValueDictionary

from wieldy.core.errors import JournalError, RunBusyError
from wieldy.run.journal.processes import Process, is_alive, this_process

LEASE_S: Final = 30.0
"""For how long a claim is good that nobody renews, where its process cannot be looked up."""

RENEW_AFTER_S: Final = 10.0
"""When its holder should renew it: two renewals may fail before anybody else can take it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Somebody's claim on a run.

    Attributes:
        token: Tells the claims of one process apart.
        since: When it was made, in seconds since the epoch.
        renewed: When it was renewed last.
    """

    run_id: str
    token: str
    process: Process
    since: float
    renewed: float

    def __str__(self) -> str:
        try:
            since = datetime.fromtimestamp(self.since, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        except (ValueError, OverflowError, OSError):
            since = "a time unknown"
        return f"{self.process}, since {since}"


class Claims(Protocol):
    """Where a lease is kept: what a journal does for its leases."""

    def renew_claim(self, claim: Claim) -> None:
        """The claim was renewed just now.

        Raises:
            RunBusyError: It is not there any more.
        """
        ...

    def drop_claim(self, claim: Claim) -> None:
        """The claim is gone, if it was there."""
        ...


class HeldLease:
    """A `Lease` of any journal; held until it is released, or nobody refers to it any more.

    It is made before its claim is stored: a claim of this process without a lease is one that was left behind.
    """

    def __init__(self, claims: Claims, claim: Claim) -> None:
        self._claims, self._claim = claims, claim
        _held_here[claim.token] = self

    @property
    def renew_after_s(self) -> float:
        """How long the holder may wait before it renews, in seconds."""
        return RENEW_AFTER_S

    def renew(self) -> None:
        """The lease is good for its full time again.

        Raises:
            RunBusyError: It ran out and another process has taken it, or it is not this process's own.
            JournalError: The journal cannot be reached.
        """
        if not self._is_ours():
            raise lost(self._claim.run_id, None)
        self._claims.renew_claim(self._claim)

    def release(self) -> None:
        """Others may take it; doing so twice is harmless, and so is doing so in a forked process.

        Where the journal cannot be reached, the claim is dropped with that of a later release; until then, others find
        the lease free when it has run out, or this process has ended.
        """
        if self._is_ours():
            del _held_here[self._claim.token]
            if _is_dropped(self._claims, self._claim):
                left = _left_here.get(self._claims, [])
                while left and _is_dropped(self._claims, left.pop()):
                    pass

    def _is_ours(self) -> bool:
        return self._claim.token in _held_here and self._claim.process.pid == os.getpid()


# What this process really holds. A claim in its name that is not here was left behind, by a release that could not
# reach the journal or by a caller who let go of the lease; a forked process has another number.
_held_here: Final = WeakValueDictionary[str, HeldLease]()

_left_here: Final = WeakKeyDictionary[Claims, list[Claim]]()
"""Claims that could not be dropped yet."""


def _is_dropped(claims: Claims, claim: Claim) -> bool:
    """Whether the claim is gone now; else it is remembered."""
    try:
        claims.drop_claim(claim)
    except JournalError:
        _left_here.setdefault(claims, []).append(claim)
        return False
    return True


def new_claim(run_id: str, *, now: float) -> Claim:
    """A claim of this process that is nobody else's, not even another one of its own."""
    return Claim(run_id=run_id, token=secrets.token_hex(16), process=this_process(), since=now, renewed=now)


def is_free(claim: Claim, *, now: float) -> bool:
    """Whether the lease may be taken by somebody else, as this process sees it."""
    return is_void(claim, here=this_process(), now=now, is_held=_held_here.__contains__, is_alive=is_alive)


def is_void(
    claim: Claim,
    *,
    here: Process,
    now: float,
    is_held: Callable[[str], bool],
    is_alive: Callable[[Process], bool],
) -> bool:
    """Whether the lease may be taken by somebody else.

    Args:
        claim: What is known of it.
        here: The process that asks.
        now: By the clock that the claim was renewed by.
        is_held: Whether this process holds the lease with this token.
        is_alive: Whether another process of the same place still runs.
    """
    if claim.process == here:
        return not is_held(claim.token)
    if claim.process.place and claim.process.place == here.place:
        return not is_alive(claim.process)
    return now - claim.renewed > LEASE_S


def busy(claim: Claim) -> RunBusyError:
    """The refusal, for who asks for a lease that is held."""
    return RunBusyError(
        f"Run {claim.run_id} is being worked on by {claim}. Wait until that is done, or end that process.",
        holder=str(claim),
    )


def lost(run_id: str, claim: Claim | None) -> RunBusyError:
    """The refusal, for who held the lease and does not any more."""
    taken = f"{claim} has taken it" if claim else "it was given back, or another process has taken it"
    return RunBusyError(
        f"The lease of run {run_id} is not held here any more: {taken}. Nothing more was done here; resume the run "
        "when it is free.",
        holder=str(claim) if claim else "another process",
    )
