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
        # 5 and 5.0 are one time, also after a journal that keeps them apart.
        expires = None if self.expires is None else float(self.expires)
        return sha256(canonical_json([self.run_id, self.call_id, self.tool_name, self.arguments, self.reason, expires]))

    def is_expired(self, now: float) -> bool:
        """Whether an answer would come too late."""
        # Asked this way round, a time that is no number has passed, and does not last for ever.
        return self.expires is not None and not now < self.expires

    def approve(self, *, by: str) -> Approval:
        """The answer that lets exactly this call run.

        Args:
            by: Who decided, for the record.
        """
        return Approval(call_id=self.call_id, digest=self.digest, is_granted=True, by=by)

    def deny(self, *, by: str, reason: str = "") -> Approval:
        """The answer that does not.

        Args:
            by: Who decided, for the record.
            reason: Why, for the model.
        """
        return Approval(call_id=self.call_id, digest=self.digest, is_granted=False, by=by, reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """The answer to an `ApprovalRequest`; made by its `approve` and `deny`.

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


def is_valid(approval: Approval, request: ApprovalRequest, *, now: float) -> bool:
    """Whether the answer, yes or no, counts for this request.

    Args:
        approval: What somebody answered, to whatever they were shown.
        request: What would run now.
        now: When the answer was given or is used, whichever is to be asked about, in seconds since the epoch.
    """
    return approval.call_id == request.call_id and approval.digest == request.digest and not request.is_expired(now)
