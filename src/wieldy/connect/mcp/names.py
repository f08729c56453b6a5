"""Under which names the tools of servers are offered: `server__tool`, reversible, and fit for every provider.

Law: the names of two different tools differ (but for a collision of eight hexadecimal digits of SHA-256, which is
refused), and a name is the same in every process. A name is plain where it can be read back: the server's part ends at
the first two underscores. Every other name is shortened and ends in a digest of what it stands for. Deliberately not
here: names that a program gives itself (`Toolset.renamed`).
"""

from __future__ import annotations

import re
from typing import Final

from wieldy.tools.names import DIGITS, MAX_NAME_LENGTH, MAX_PREFIX_LENGTH, shortened

SEPARATOR: Final = "__"
RULE: Final = (
    f"a name has at most {MAX_NAME_LENGTH} letters, digits, `_` and `-`, and what stands before the first "
    f"`{SEPARATOR}` in it is the server"
)
"""Why a name may not be the plain one, for people."""

_LEGAL: Final = re.compile(r"[A-Za-z0-9_-]+")
_ILLEGAL: Final = re.compile(r"[^A-Za-z0-9_-]+")
_ENDS_IN_DIGEST: Final = re.compile(rf"_[0-9a-f]{{{DIGITS}}}")


def offered_name(server: str | None, tool: str) -> str:
    """The name under which a tool is offered.

    Args:
        server: As the program calls the server; None where its tools keep their names.
        tool: As the server calls it.
    """
    plain = tool if server is None else f"{server}{SEPARATOR}{tool}"
    if len(plain) <= MAX_NAME_LENGTH and _is_read_back(server, plain) and not _ENDS_IN_DIGEST.fullmatch(plain[-9:]):
        return plain
    # A server's part that cannot be read back is kept apart from all that can.
    return name_apart(server, tool)


def name_apart(server: str | None, tool: str) -> str:
    """A name that no other tool can have: it ends in a digest of what it stands for, which plain names never do."""
    prefix = "" if server is None else servers_part(server) + SEPARATOR
    return shortened(prefix, _ILLEGAL.sub("_", tool), server, tool)


def servers_part(server: str) -> str:
    """What the names of all tools of this server begin with, and perhaps those of others."""
    return _ILLEGAL.sub("_", server)[: MAX_PREFIX_LENGTH - 2]


def _is_read_back(server: str | None, plain: str) -> bool:
    if not _LEGAL.fullmatch(plain):
        return False
    return server is None or (SEPARATOR not in server and not server.endswith("_") and bool(server))
