"""Tracked code: orchestration in a part of Python, run so that of every value it is known where it comes from.

`Tracked` runs the code step by step. Read `interpreter` first, then `control` (who decides which way the code goes),
`marking` and `analysis` (what another way could have changed), and then the rest: `objects` and what is done with them.
It is no jail: it bounds what code can *do* by having no way to do anything but call the tools it is given.
"""

from wieldy.sandbox.tracked.interpreter import Tracked
from wieldy.sandbox.tracked.limits import TrackedLimits
from wieldy.sandbox.tracked.machine import BUILTIN_NAMES
from wieldy.sandbox.tracked.steps import (
    Answer,
    Calls,
    Done,
    Failed,
    Labelled,
    Reply,
    Step,
    ToolFailure,
    TrackedCall,
)
from wieldy.sandbox.tracked.subset import UnsupportedCodeError, check_code

__all__ = [
    "BUILTIN_NAMES",
    "Answer",
    "Calls",
    "Done",
    "Failed",
    "Labelled",
    "Reply",
    "Step",
    "ToolFailure",
    "Tracked",
    "TrackedCall",
    "TrackedLimits",
    "UnsupportedCodeError",
    "check_code",
]
