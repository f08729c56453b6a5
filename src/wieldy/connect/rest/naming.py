"""Names that every provider takes, made from whatever a document has: for tools, and for their arguments.

Laws: names are different from one another and the same in every process; a name depends on what it is made from and on
who else wants it, and not on the order. Deliberately not here: leading a name back (`OpenApiToolset.operation`,
`plans`), for which the plain answer is to keep what it was made from.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from wieldy.tools.names import MAX_NAME_LENGTH

_NO_TOOL_NAME: Final = re.compile(r"[^A-Za-z0-9_-]+")
_NO_ARGUMENT_NAME: Final = re.compile(r"[^A-Za-z0-9_.-]+")
_MARK_LENGTH: Final = 8


def tool_names(wanted: Sequence[tuple[str, str]]) -> list[str]:
    """Names for tools.

    Args:
        wanted: For each the name that it would have, and a text that is its own, by which it is told apart where
            others would have the same name or where it is too long.
    """
    valid = [_NO_TOOL_NAME.sub("_", name).strip("_") or "operation" for name, _ in wanted]
    counts = Counter(valid)
    return [
        name if counts[name] == 1 and len(name) <= MAX_NAME_LENGTH else _marked(name, own)
        for name, (_, own) in zip(valid, wanted, strict=True)
    ]


def argument_name(name: str) -> str:
    """The name of an argument for what is called so on the wire."""
    valid = _NO_ARGUMENT_NAME.sub("_", name).strip("_") or "argument"
    return valid if len(valid) <= MAX_NAME_LENGTH else _marked(valid, name)


def _marked(name: str, own: str) -> str:
    mark = hashlib.sha256(own.encode("utf-8", "surrogatepass")).hexdigest()[:_MARK_LENGTH]
    return f"{name[: MAX_NAME_LENGTH - _MARK_LENGTH - 1]}_{mark}"
