"""Decoding constraints: what a model may write next, token by token.

`choice`, `json_schema` and `lark` make a `Grammar`; a `Matcher` walks it over a vocabulary. Pure: tokens in, masks out.
What may be written is a `shape`, which `notation` prints for three engines. The engine is llguidance (extras `local`
and `constrain`); it is imported when the first grammar is compiled.
Deliberately not here: which tools exist and how a model family writes its calls; sampling.
"""

from wieldy.grammar.budget import Guard, minimum_tokens
from wieldy.grammar.compiled import Grammar
from wieldy.grammar.constraints import choice, json_schema, lark
from wieldy.grammar.matcher import Matcher, fill_masks
from wieldy.grammar.tokenizer import Tokenizer

__all__ = ["Grammar", "Guard", "Matcher", "Tokenizer", "choice", "fill_masks", "json_schema", "lark", "minimum_tokens"]
