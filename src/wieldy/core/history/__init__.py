"""Histories that strict providers take: `check_history` says what is wrong, `repair` makes one of any other."""

from wieldy.core.history.checking import check_history, results_in_order_of_calls
from wieldy.core.history.repairing import Repaired, repair

__all__ = ["Repaired", "check_history", "repair", "results_in_order_of_calls"]
