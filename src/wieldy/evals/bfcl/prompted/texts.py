"""The official verdict on what a prompted model wrote, for any task of one turn: calls in Python, Java or JavaScript.

Deliberately not here: what the text of each form is read as (`reading`, `java`, `javascript`).
"""

from __future__ import annotations

from wieldy.evals.bfcl import official
from wieldy.evals.bfcl.categories import Language
from wieldy.evals.bfcl.data import BfclTask
from wieldy.evals.bfcl.decoding import Decoded, DecodingError
from wieldy.evals.bfcl.prompted.forms import PLAIN, Form
from wieldy.evals.bfcl.prompted.java import read_java
from wieldy.evals.bfcl.prompted.javascript import read_javascript
from wieldy.evals.bfcl.prompted.reading import read, within_brackets


def check_text(task: BfclTask, text: str, form: Form = PLAIN) -> str | None:
    """The checker's error for what a model wrote; None if it is right.

    Args:
        task: What was wanted.
        text: The model's whole reply.
        form: In which calls were asked for; of Java and JavaScript there is but one.
    """
    try:
        calls = read_text(text, task.category.language, form)
    except DecodingError:
        return official.NOT_READ if task.category.wanted == "calls" else official.check_relevance(task.category, False)
    if task.category.wanted != "calls":
        return official.check_relevance(task.category, bool(calls) and official.are_calls(calls))
    return official.NO_CALLS if calls is None else official.check_read(task, calls)


def read_text(text: str, language: Language, form: Form = PLAIN) -> list[Decoded] | None:
    """The calls in the text; None where the checker finds something else than a list of calls.

    Raises:
        DecodingError: The official checker could not read it.
    """
    if language == "python":
        return read(text, form)
    inside = within_brackets(text)[1:-1]
    try:
        return read_java(inside) if language == "java" else read_javascript(inside)
    except RecursionError as error:
        raise DecodingError("Expected fewer parts within one another.") from error
