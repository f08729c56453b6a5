"""What is known of a run: computed from its journal, and saved nowhere."""

from wieldy.run.state.doubts import Doubt, doubt_about, left_to_json, reference
from wieldy.run.state.folding import Fold, fold
from wieldy.run.state.history import MessagesSoFar
from wieldy.run.state.records import CallState, CallStatus, FailedAttempt, Parent, RunState, RunStatus

__all__ = [
    "CallState",
    "CallStatus",
    "Doubt",
    "FailedAttempt",
    "Fold",
    "MessagesSoFar",
    "Parent",
    "RunState",
    "RunStatus",
    "doubt_about",
    "fold",
    "left_to_json",
    "reference",
]
