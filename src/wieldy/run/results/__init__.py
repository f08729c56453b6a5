"""What becomes of what a tool returned: the one result that a model reads, and what it should know about it.

The order in which to read: `rules`, `shaper`, and then what it does with a text one after the other: `masks`,
`injection`, `caps`, `summaries`, `fences`. `paging` is the tool by which a model reads what was cut.
"""

from wieldy.run.results.caps import READ_RESULT, with_note
from wieldy.run.results.injection import is_injection_shaped
from wieldy.run.results.masks import check_secrets
from wieldy.run.results.paging import Whole, read_result_tool
from wieldy.run.results.rules import ResultRules, Summarise
from wieldy.run.results.shaper import Shaper

__all__ = [
    "READ_RESULT",
    "ResultRules",
    "Shaper",
    "Summarise",
    "Whole",
    "check_secrets",
    "is_injection_shaped",
    "read_result_tool",
    "with_note",
]
