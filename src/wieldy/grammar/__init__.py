"""Decoding constraints: what a model may write next, token by token.

`choice`, `regex`, `json_schema`, `grammar` and `lark` make a `Grammar`; `in_order`, `one_of`, `repeated` and `optional`
put several together; a `Matcher` walks one over the vocabulary of a `Tokenizer`. Pure: tokens in, masks out.
What of a JSON Schema is enforced where is an `Enforcement`; `check_constraint` puts a schema to the test.
What may be written is a `shape`, which `notation` prints for three engines. The engine is llguidance (extras `local`
and `constrain`); it is imported when the first grammar is compiled.
Deliberately not here: which tools exist and how a model family writes its calls; sampling.
"""

from wieldy.grammar.budget import Guard, minimum_tokens
from wieldy.grammar.check import ConstraintReport, check_constraint
from wieldy.grammar.combining import in_order, one_of, optional, repeated
from wieldy.grammar.compiled import Grammar
from wieldy.grammar.constraints import choice, grammar, json_schema, lark, regex
from wieldy.grammar.enforcement import Enforcement
from wieldy.grammar.lowering import enforcement_of
from wieldy.grammar.matcher import Matcher, fill_masks
from wieldy.grammar.tokenizer import Tokenizer

__all__ = [
    "ConstraintReport",
    "Enforcement",
    "Grammar",
    "Guard",
    "Matcher",
    "Tokenizer",
    "check_constraint",
    "choice",
    "enforcement_of",
    "fill_masks",
    "grammar",
    "in_order",
    "json_schema",
    "lark",
    "minimum_tokens",
    "one_of",
    "optional",
    "regex",
    "repeated",
]
