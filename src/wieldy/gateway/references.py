"""Secrets by reference: a configuration says where one is, never what it is.

`{"env": NAME}` is a variable of the environment, `{"file": PATH}` the content of a file without the line break at its
end. Deliberately not here: what the secrets are for (`config`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from wieldy.core.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """Where references lead.

    Attributes:
        environment: Of `env`.
        folder: That paths are relative to.
    """

    environment: Mapping[str, str]
    folder: Path

    def is_one(self, value: object) -> bool:
        """Whether this is a reference."""
        return (
            isinstance(value, Mapping)
            and len(cast("Mapping[object, object]", value)) == 1
            and (next(iter(cast("Mapping[object, object]", value))) in ("env", "file"))
        )

    def read(self, reference: object, *, place: str) -> str:
        """The secret.

        Raises:
            UsageError: It is no reference, or leads nowhere; the text names the place and no secret.
        """
        if not self.is_one(reference):
            found = "a text, and secrets do not stand here" if isinstance(reference, str) else "another value"
            raise UsageError(
                f'{place}: expected a reference to a secret, {{"env": NAME}} or {{"file": PATH}}, found {found}.'
            )
        ((kind, name),) = cast("Mapping[str, Any]", reference).items()
        if not isinstance(name, str) or not name:
            raise UsageError(f"{place}: expected a name after {kind!r}, found {name!r:.40}.")
        found = self._variable(name, place) if kind == "env" else self._file(name, place)
        if not found.strip():
            raise UsageError(f"{place}: expected a secret in {kind} {name!r}, found nothing.")
        return found

    def path(self, name: str) -> Path:
        """A path of the configuration."""
        return self.folder / Path(name).expanduser()

    def _variable(self, name: str, place: str) -> str:
        found = self.environment.get(name)
        if found is None:
            raise UsageError(f"{place}: expected the environment variable {name} to be set, found nothing.")
        return found

    def _file(self, name: str, place: str) -> str:
        try:
            return self.path(name).read_text(encoding="utf-8").rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
            raise UsageError(f"{place}: the file {name!r} cannot be read: {reason}.") from error
