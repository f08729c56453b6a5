"""What a report may be written over: an earlier one, or an empty file, and nothing else, such as what it is made of."""

from __future__ import annotations

from pathlib import Path

from wieldy.core.errors import UsageError


def check_replaceable(file: Path, beginning: str, what: str) -> None:
    """Nothing is lost if this is written to the file.

    Args:
        file: May be there or not.
        beginning: That of everything that may be replaced.
        what: What that is, for people.

    Raises:
        UsageError: Something else is there.
    """
    if not file.is_file():
        return
    own = beginning.encode()
    try:
        with file.open("rb") as there:
            found = there.read(len(own))
    except OSError as error:
        raise UsageError(f"{file}: {what} cannot be written here: {error.strerror}. Name another file.") from error
    if found and found != own:
        raise UsageError(f"{file} exists, is not {what}, and is left as it is. Name another file.")
