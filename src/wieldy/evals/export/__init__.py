"""Runs and trials as training data, of which is certain what is learned from: `wieldy export`.

`sources` finds trials and runs, `branches` reads what the model was shown and wrote, `selection` says what of it is
learned from and counts what is left out, `row` is what comes of it, `views` what each trainer reads of that, `tokens`
the same as tokens, `writing` the file. Law: nothing but what the model itself wrote is ever marked to be learned from.
"""

from wieldy.evals.export.selection import INCLUDABLE, OTHERS, WHERE, Counts, Wanted, passes_only, selected
from wieldy.evals.export.sources import Sources
from wieldy.evals.export.tokens import TokenColumns
from wieldy.evals.export.views import VIEWS
from wieldy.evals.export.writing import check_new, write_rows

__all__ = [
    "INCLUDABLE",
    "OTHERS",
    "VIEWS",
    "WHERE",
    "Counts",
    "Sources",
    "TokenColumns",
    "Wanted",
    "check_new",
    "passes_only",
    "selected",
    "write_rows",
]
