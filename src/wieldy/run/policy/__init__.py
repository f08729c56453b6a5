"""What may run: decisions, the proposal that they are about, the default, and what asks a person."""

from wieldy.run.policy.decisions import (
    Allow,
    Approver,
    Ask,
    Decision,
    Deny,
    Policy,
    Proposal,
    allow_all,
    consult,
    decide,
)
from wieldy.run.policy.permissions import permitted

__all__ = [
    "Allow",
    "Approver",
    "Ask",
    "Decision",
    "Deny",
    "Policy",
    "Proposal",
    "allow_all",
    "consult",
    "decide",
    "permitted",
]
