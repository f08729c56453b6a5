"""A small text index: entries with a name and a few texts, found by words and by meaning.

Pure but for reading the vectors of words from an installed package (`vectors`). Order in which to read: `words` (what a
text is made of), `lexical` and `dense` (the two ways of scoring), `index` (both together). Deliberately not here: what
is indexed; tools are put into it by `tools.catalogue`.
"""

from wieldy.index.entry import Entry
from wieldy.index.index import Hit, Index

__all__ = ["Entry", "Hit", "Index"]
