"""Names that every provider takes, made from whatever a document has: for tools, and for their arguments.

Laws: names are different from one another and the same in every process; a name depends on what it is made from and on
who else wants it, and not on the order. Deliberately not here: leading a name back (`OpenApiToolset.operation`,
`plans`), for which the plain answer is to keep what it was made from.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from wieldy.tools.names import MAX_NAME_LENGTH, shortened

_NO_TOOL_NAME: Final = re.compile(r"[^A-Za-z0-9_-]+")
_NO_ARGUMENT_NAME: Final = re.compile(r"[^A-Za-z0-9_.-]+")


def tool_names(wanted: Sequence[tuple[str, str]], *, prefix: str = "") -> list[str]:
    """Names for tools.

    Args:
        wanted: For each the name that it would have, and a text that is its own, by which it is told apart where
            others would have the same name or where it is too long.
        prefix: Stands before all of them.
    """
    valid = [_NO_TOOL_NAME.sub("_", name).strip("_") or "operation" for name, _ in wanted]
    counts = Counter(valid)
    return [
        prefix + name
        if counts[name] == 1 and len(prefix) + len(name) <= MAX_NAME_LENGTH
        else shortened(prefix, name, own)
        for name, (_, own) in zip(valid, wanted, strict=True)
    ]


def argument_name(name: str) -> str:
    """The name of an argument for what is called so on the wire."""
    valid = _NO_ARGUMENT_NAME.sub("_", name).strip("_") or "argument"
    return valid if len(valid) <= MAX_NAME_LENGTH else shortened("", valid, name)
