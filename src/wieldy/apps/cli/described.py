"""A service that the command line names by its OpenAPI document, as it may be recorded, and its tools.

Secrets are not on the command line, where everybody on the machine may read them: `--credential` names a variable of
the environment, and only that name is recorded. Deliberately not here: what is said of the tools (`described_view`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from wieldy.core.errors import UsageError

if TYPE_CHECKING:
    from wieldy.connect.rest.toolset import OpenApiToolset
    from wieldy.core.json import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """Which service.

    Attributes:
        document: A file or a URL.
        credentials: `NAME=VARIABLE`: of a security scheme, and of the environment.
        only: Patterns of names of operations; all if there is none.
        server: Instead of the document's; None for that.
    """

    document: str
    credentials: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    server: str | None = None

    def to_json(self) -> JsonObject:
        """What may be recorded; the document is null where its address may hold a secret."""
        return {
            "document": _recordable(self.document),
            "credentials": list(self.credentials),
            "only": list(self.only),
            "server": self.server,
        }

    @classmethod
    def from_json(cls, recorded: object) -> Described | None:
        """What was recorded; None where nothing was.

        Raises:
            UsageError: The document's address was not recorded.
            ValueError: It is something else.
        """
        if recorded is None:
            return None
        said = cast("dict[str, Any]", recorded)
        if said["document"] is None:
            raise UsageError(
                "The run was started with a document whose address may hold a secret, so it was not recorded. Name it "
                "again with --openapi, and with it --credential, --only and --server if they were given."
            )
        return cls(
            document=str(said["document"]),
            credentials=tuple(map(str, said["credentials"])),
            only=tuple(map(str, said["only"])),
            server=None if said["server"] is None else str(said["server"]),
        )

    def toolset(self, *, environment: Mapping[str, str] | None = None, output_schemas: bool = False) -> OpenApiToolset:
        """The service's tools; what lies behind a URL is not fetched yet.

        Raises:
            UsageError: The document cannot be read, or a credential is not there.
        """
        from wieldy.connect import openapi  # noqa: PLC0415 - only a run with such a service needs it

        return openapi(
            self.document,
            credentials=_secrets(self.credentials, os.environ if environment is None else environment),
            only=self.only or None,
            server=self.server,
            output_schemas=output_schemas,
        )


def described(
    document: str | None, credentials: Sequence[str] | None, only: Sequence[str] | None, server: str | None
) -> Described | None:
    """The service that options name; None if they name none.

    Raises:
        UsageError: Something is said of a service that is not named.
    """
    if document is None:
        if credentials or only or server:
            raise UsageError("--credential, --only and --server say something of the service that --openapi names.")
        return None
    return Described(document=document, credentials=tuple(credentials or ()), only=tuple(only or ()), server=server)


def _secrets(credentials: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for credential in credentials:
        name, equals, variable = credential.rpartition("=")
        if not equals or not name or not variable:
            raise UsageError(
                f"Expected --credential NAME=VARIABLE, a security scheme and a variable of the environment that holds "
                f"its secret; found {len(credential)} characters of another form."
            )
        if variable not in environment:
            raise UsageError(
                f"Expected the secret of {name!r} in the environment variable {variable}, which is not set."
            )
        found[name] = environment[variable]
    return found


def _recordable(document: str) -> str | None:
    if document.lower().startswith(("http://", "https://")):
        return None if "@" in document or "?" in document else document
    return str(Path(document).expanduser().absolute())
