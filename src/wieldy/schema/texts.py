"""What texts some Python types are read from, where pydantic's own JSON Schema says less, or something else.

A model that is held to a schema can only write what the type takes if the schema says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from wieldy.core.json import JsonObject

NUMBER: Final = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]{1,3})?$"
"""A number as JSON has it."""
_DATE: Final = "[1-9][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_TIME: Final = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?"
WITHOUT_ZONE: Final[JsonObject] = {"type": "string", "pattern": f"^{_DATE}T{_TIME}$"}
"""A date and a time without a time zone, which the format `date-time` demands. It is short, as models read it: how many
days a month has is left to the type."""
_HEX: Final = "[0-9a-fA-F]"
TEXTS: Final[dict[str, JsonObject]] = {
    "ipvanyaddress": {"anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]},
    **{
        f"uuid{version}": {"format": "uuid", "pattern": f"^{_HEX}{{8}}-?{_HEX}{{4}}-?{version}{_HEX}{{3}}-?[89abAB]"}
        for version in range(1, 9)
    },
}
"""What stands for formats that only pydantic knows."""


def beginning_with(schemes: Iterable[str]) -> str:
    """The pattern of URLs of these schemes."""
    return f"^({'|'.join(map(re.escape, schemes))})://"
