"""The self-test of a constraint: what the mask lets through, against what a validator says of it.

Above it lie programs and tests; below it the matcher and lowering. Pure: chance comes from a seed.
"""

from wieldy.grammar.check.check import check_constraint
from wieldy.grammar.check.report import ConstraintReport

__all__ = ["ConstraintReport", "check_constraint"]
