"""What becomes of what a tool returned: what a model reads of it, and what it should know about it."""

from wieldy.run.results.caps import with_note
from wieldy.run.results.shaper import ResultRules, Shaper, Summarise

__all__ = ["ResultRules", "Shaper", "Summarise", "with_note"]
