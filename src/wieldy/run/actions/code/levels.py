"""How exactly it is known of code whose data had a part in what it does: three levels, and what a journal calls each.

`run`: all that the code was told may have shaped all that it does from then on. `handles`: what strangers may have
shaped is kept from it until it asks for it (`handles`). `tracked`: it is known of every value (`tracked`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

Level: TypeAlias = Literal["run", "handles", "tracked"]

MODEL_NAMES: Final[Mapping[Level, str]] = {"run": "code:python", "handles": "code:handles", "tracked": "code:tracked"}
"""What the model of a run is called whose model is code."""

IS_EXACT: Final[Mapping[Level, bool]] = {"run": False, "handles": True, "tracked": True}
"""Whether calls say themselves who had a part in them."""


def level_of(model_name: str) -> Level | None:
    """The level of code that is recorded as this model; None if it is no code, or that of a later version."""
    return next((level for level, name in MODEL_NAMES.items() if name == model_name), None)
