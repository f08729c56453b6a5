"""The one place where the engine is imported: llguidance is optional and need not be there to import Wieldy."""

from __future__ import annotations

from types import ModuleType

from wieldy.core.errors import GrammarError
from wieldy.core.extras import installing


def llguidance() -> ModuleType:
    """The engine.

    Raises:
        GrammarError: It is not installed.
    """
    try:
        import llguidance as engine  # noqa: PLC0415  an optional extra
    except ImportError as error:
        raise GrammarError(
            f"Constraints need the engine llguidance, which is not installed. Run: {installing('constrain')}"
        ) from error
    return engine
