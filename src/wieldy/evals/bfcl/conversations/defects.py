"""What is wrong with conversations: right calls that the functions which are there do not allow.

Such a task says nothing about a model that keeps to what it is offered. Found by looking at every task.

| code | says |
|---|---|
| `not-offered` | a right call is of a function that is not there in its turn |
| `not-admitted` | a right call has arguments that the function's description does not admit |
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from wieldy.evals.bfcl.conversations.data import BfclConversation
from wieldy.evals.bfcl.conversations.written import read_call
from wieldy.evals.bfcl.defects import Defect
from wieldy.evals.bfcl.offering import offered
from wieldy.schema import CompiledSchema


@lru_cache(maxsize=1024)
def defects_of(conversation: BfclConversation) -> tuple[Defect, ...]:
    """What is wrong with the task; empty if nothing was found."""
    return tuple(dict.fromkeys(_defects(conversation)))


def is_valid(conversation: BfclConversation) -> bool:
    """Whether what the task wants can be reached by what it offers."""
    return not defects_of(conversation)


def _defects(conversation: BfclConversation) -> Iterator[Defect]:
    world = conversation.world()
    for turn in conversation.turns:
        definitions = {definition.name: definition for definition in offered(turn.functions).definitions}
        for text in turn.calls:
            name, positional, named = read_call(text)
            if name not in definitions:
                yield Defect("not-offered", name, "strict")
            elif not CompiledSchema(definitions[name].input_schema).accepts(world.arguments(name, positional, named)):
                yield Defect("not-admitted", name, "strict")
