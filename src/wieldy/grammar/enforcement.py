"""Who enforces a keyword of a JSON Schema while a model writes: the mask, a validator afterwards, or nobody.

A record only; `lowering` finds it out and `compiled` carries it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

By: TypeAlias = Literal["mask", "validator", "refused"]
"""`mask`: what does not fit cannot be written. `validator`: it can be written and is found afterwards, so that the
model is told and tries again. `refused`: no constraint can be made from the schema; the reason says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Enforcement:
    """What becomes of one keyword of one subschema.

    Attributes:
        pointer: The subschema in its document, as a JSON pointer in a fragment: `#`, `#/properties/city`.
        keyword: The keyword, such as `pattern`.
        by: Who enforces it.
        reason: Why not by the mask; or, by the mask, what it refuses although the schema allows it.
        schema: Whose schema it is: a tool's name, or empty.
    """

    pointer: str
    keyword: str
    by: By
    reason: str = ""
    schema: str = ""

    def __str__(self) -> str:
        of = f"{self.schema} " if self.schema else ""
        by = {"mask": "by the mask", "validator": "by the validator", "refused": "refused"}[self.by]
        return f"{of}{self.pointer} `{self.keyword}`: {by}" + (f" ({self.reason})" if self.reason else "")
