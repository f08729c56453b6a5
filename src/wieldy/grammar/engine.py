"""The one place where the engine is imported: llguidance is optional and need not be there to import Wieldy.

A grammar is compiled for a vocabulary once, as a `Start`; every matcher is a copy of it. Copies share the engine's
lexer: where that meets a limit, it takes no more text from any of them.
Differs: llguidance 1.9.1 says so in some of its calls only. Expected of `try_consume_tokens` and `validate_tokens`: an
error; found: every token is refused, as if the grammar did not allow it. So after a refusal one asks `has_given_up`.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from wieldy.core.errors import GrammarError
from wieldy.core.extras import installing

_LIMITS = {
    "max_items_in_row": 20_000,
    "step_max_items": 2_000_000,
    "step_lexer_fuel": 100_000_000,
    "initial_lexer_fuel": 100_000_000,
}
"""Ten times and more what the engine allows by itself: here nobody else waits for it. A mask fills up the lexer's fuel,
which all matchers of a grammar spend together; what is only validated and accepted fills up nothing."""


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


class Start:
    """A grammar compiled for a vocabulary, at the beginning of every text.

    Args:
        tokenizer: The engine's tokenizer.
        text: The grammar in the engine's dialect.
    """

    def __init__(self, tokenizer: Any, text: str) -> None:
        engine = llguidance()
        self._matcher: Any = engine.LLMatcher(tokenizer, text, log_level=0, limits=engine.LLParserLimits(**_LIMITS))
        self._first: int | None = None
        """A token that may come first; None as long as nobody asked."""

    def get_error(self) -> str:
        """Why the engine refuses the grammar; empty if it does not."""
        return self._matcher.get_error()

    def copy(self) -> Any:
        """A matcher of the engine's. Cost: a few microseconds."""
        return self._matcher.deep_copy()

    def has_given_up(self) -> bool:
        """Whether the lexer that all copies share met a limit, so that what they refuse means nothing.

        Cost: a few microseconds; the first time, a mask.
        """
        if self._first is None:
            copied = self.copy()
            mask: bytes = copied.compute_bitmask()
            if copied.is_error():
                return True
            bits = int.from_bytes(mask, "little")
            self._first = (bits & -bits).bit_length() - 1
        return self._matcher.validate_tokens([self._first]) == 0
