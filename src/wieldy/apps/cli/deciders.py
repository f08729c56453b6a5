"""Who decides on calls, for the record. Deliberately not here: asking them (`asking`), their answers (`deciding`)."""

from __future__ import annotations

import getpass
import os
from typing import Final

NOBODY: Final = "the command line"
"""Who is recorded to have decided where nobody could be asked."""


def user_name() -> str:
    """Who sits at this terminal, as far as the system knows."""
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):  # as in a container whose user has no name
        return f"user {os.getuid()}" if hasattr(os, "getuid") else "somebody"
