"""A question to a person, and the answer: about exactly one call with exactly these arguments.

Law: an approval counts only for what was shown. The digest binds run, call, tool, arguments, reason and expiry; if any
of them differs, or the time is over, the call is asked about again. Deliberately not here: when to ask (`run.policy`)
and where questions are kept (the journal).
"""

from __future__ import annotations

from dataclasses import dataclass

from wieldy.core.json import JsonObject, canonical_json, sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """May this call run?

    Attributes:
        arguments: Those with which it will run.
        reason: Why somebody is asked.
        expires: Seconds since the epoch after which an answer does not count; None for never.
    """

    run_id: str
    call_id: str
    tool_name: str
    arguments: JsonObject
    reason: str
    expires: float | None = None

    @property
    def digest(self) -> str:
        """What an approval is bound to: SHA-256 of everything that was shown, in hexadecimal."""
        return sha256(
            canonical_json(
                [self.run_id, self.call_id, self.tool_name, self.arguments, self.reason, self.expires]
            )
        )

    def is_expired(self, now: float) -> bool:
        """Whether an answer would come too late."""
        return self.expires is not None and now >= self.expires


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """The answer to an `ApprovalRequest`.

    Attributes:
        digest: Of the request that was shown.
        is_granted: Whether the call may run.
        by: Who decided.
        reason: In their words, for the model, where they said no.
    """

    call_id: str
    digest: str
    is_granted: bool
    by: str
    reason: str = ""
