"""Output that is always complete: at every step a completion is known that fits what is left of the budget.

`Guard` walks a grammar as a `Matcher` does and refuses what would leave no room for the rest. Read in this order:
`parts` and `states` (a grammar as bytes, and walking it), `texts`, `numbers`, `meeting`, `json_parts` and `network`
(how shapes become parts), `tracker` (where a text stands, and its shortest completion), `cutting` and `searching`
(tokens that the engine confirms), `guard`; last `closing`, for texts that were cut off where nothing was constrained.
"""

from wieldy.grammar.budget.closing import closed
from wieldy.grammar.budget.guard import Guard, minimum_tokens

__all__ = ["Guard", "closed", "minimum_tokens"]
