"""Under which names the tools of servers are offered: `server__tool`, reversible, and fit for every provider.

Law: the names of two different tools differ (but for a collision of eight hexadecimal digits of SHA-256, which is
refused), and a name is the same in every process. A name is plain where it can be read back: the server's part ends at
the first two underscores. Every other name is shortened and ends in a digest of what it stands for. Deliberately not
here: names that a program gives itself (`Toolset.renamed`).
"""

from __future__ import annotations

import re
from typing import Final

from wieldy.core.json import digest
from wieldy.tools.names import MAX_NAME_LENGTH

SEPARATOR: Final = "__"
_DIGITS: Final = 8
_LEGAL: Final = re.compile(r"[A-Za-z0-9_-]+")
_ILLEGAL: Final = re.compile(r"[^A-Za-z0-9_-]+")
_ENDS_IN_DIGEST: Final = re.compile(rf"_[0-9a-f]{{{_DIGITS}}}")


def offered_name(server: str | None, tool: str) -> str:
    """The name under which a tool is offered.

    Args:
        server: As the program calls the server; None where its tools keep their names.
        tool: As the server calls it.
    """
    plain = tool if server is None else f"{server}{SEPARATOR}{tool}"
    if len(plain) <= MAX_NAME_LENGTH and _is_read_back(server, plain) and not _ENDS_IN_DIGEST.fullmatch(plain[-9:]):
        return plain
    ending = digest(server, tool)[:_DIGITS]
    # A server's part that cannot be read back is kept apart from all that can.
    prefix = "" if server is None else _ILLEGAL.sub("_", server)[: MAX_NAME_LENGTH // 2] + SEPARATOR
    whole = prefix + _ILLEGAL.sub("_", tool)
    return f"{whole[: MAX_NAME_LENGTH - _DIGITS - 1]}_{ending}"


def _is_read_back(server: str | None, plain: str) -> bool:
    if not _LEGAL.fullmatch(plain):
        return False
    return server is None or (SEPARATOR not in server and not server.endswith("_") and bool(server))
