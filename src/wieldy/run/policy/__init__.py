"""What may run: decisions, the proposal that they are about, and the default."""

from wieldy.run.policy.decisions import Allow, Ask, Decision, Deny, Policy, Proposal, allow_all, decide

__all__ = ["Allow", "Ask", "Decision", "Deny", "Policy", "Proposal", "allow_all", "decide"]
