"""Answers that must be something: what a program wants, whether an answer is it, and what there is of it so far.

Read `readers` (what is wanted, and an answer read as that), `specs` (how programs say it), `document` (where the JSON
stands in a text), and last `partial` and `deltas` (JSON while it is being written). Deliberately not here: holding a
model to it (`connect`, `grammar`), and what follows from an answer that does not fit (`run.next_step`).
"""

from wieldy.run.outputs.deltas import OutputDeltas
from wieldy.run.outputs.readers import (
    ChoiceReader,
    JsonReader,
    OutputReader,
    PatternReader,
    correction,
    is_correction,
)
from wieldy.run.outputs.specs import OutputSpec, reader_of

__all__ = [
    "ChoiceReader",
    "JsonReader",
    "OutputDeltas",
    "OutputReader",
    "OutputSpec",
    "PatternReader",
    "correction",
    "is_correction",
    "reader_of",
]
