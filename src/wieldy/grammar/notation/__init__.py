"""Shapes printed in the notations of decoding engines: llguidance's Lark, llama.cpp's GBNF, xgrammar's structural tags.

Law: what is printed accepts every text of the shape. Where an engine can say less than a shape, it accepts more, and
the validator that follows decides. Deliberately not here: what a model family writes (`formats.nodes`), and walking
a grammar (`wieldy.grammar`).
"""

from wieldy.grammar.notation.gbnf import to_gbnf
from wieldy.grammar.notation.lark import to_lark
from wieldy.grammar.notation.structural_tag import to_structural_tag

__all__ = ["to_gbnf", "to_lark", "to_structural_tag"]
