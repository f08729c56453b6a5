"""Foreign text inside a session: what a tool says must not look like a line of the session itself.

Pure. A result may hold anything, and so may the description of a tool from somewhere else. Only line beginnings that
mean something in a session are touched, by a backslash before them; all other text stays as it is. Deliberately not
here: the control tokens of a model, which only its own chat format knows.
"""

from __future__ import annotations

import re
from typing import Final

# All that some reader takes for the end of a line, not only what Python calls one.
_BREAKS: Final = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_BREAK: Final = re.compile(rf"[{_BREAKS}]+")
_MEANINGFUL: Final = re.compile(rf"(^|[{_BREAKS}])([^\S{_BREAKS}]*)(?=>>>|```|\# Request:)", re.IGNORECASE)


def quoted(text: str) -> str:
    """The text with no line that could be taken for a prompt, a request or the end of the session. Cost: linear."""
    return _MEANINGFUL.sub(r"\1\2\\", text)


def unbroken(text: str) -> str:
    """The text on one line."""
    return _BREAK.sub(" ", text)
