"""The forms in which a prompt may be put: how it wants calls, how it describes functions, and the words around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

CallForm: TypeAlias = Literal["python", "json", "verbose_xml", "concise_xml"]
FunctionForm: TypeAlias = Literal["python", "xml", "json"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One form.

    Attributes:
        calls: How calls are to be written.
        is_tagged: Whether they are to stand between two marks.
        functions: How functions are described.
        layout: Of the prompt.
        style: Its wording.
    """

    calls: CallForm = "python"
    is_tagged: bool = False
    functions: FunctionForm = "json"
    layout: Literal["plaintext", "markdown"] = "plaintext"
    style: Literal["classic", "experimental"] = "classic"

    @property
    def name(self) -> str:
        """As the benchmark writes it into the ids of its tasks."""
        return (
            f"ret_fmt={self.calls}&tool_call_tag={self.is_tagged}&func_doc_fmt={self.functions}"
            f"&prompt_fmt={self.layout}&style={self.style}"
        )


PLAIN: Final = Form()
"""That of a model that is prompted where nothing is said of it."""

FORMS: Final = (
    *(
        Form(calls=calls, is_tagged=is_tagged, functions=functions)
        for calls in get_args(CallForm)
        for is_tagged in (True, False)
        for functions in get_args(FunctionForm)
    ),
    Form(layout="markdown"),
    Form(style="experimental"),
)
"""All 26, in the benchmark's order."""
