"""How a statement was left: at its end (None), by a jump, or by a `return`, which has a value."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Final, TypeAlias

from wieldy.sandbox.tracked.objects import Value

BREAK: Final = "break"


CONTINUE: Final = "continue"


Way: TypeAlias = Value | str | None


Ways: TypeAlias = Generator[Any, Any, Way]
