"""How code ended, as the text that is the answer of its run, and back.

The text is what the journal has: everything that is told to a model or shown to people is made from it.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from wieldy.core.influence import Sources
from wieldy.core.json import JsonObject, JsonValue
from wieldy.core.record import Record
from wieldy.run.actions.code.labels import sources_of

if TYPE_CHECKING:
    from wieldy.sandbox import Outcome

Status: TypeAlias = Literal["done", "error", "killed", "diverged", "limit"]
"""`diverged`: run again after a restart, it did something else. `limit`: a limit of the run around it ended it."""


class File(Record, frozen=True, kw_only=True):
    """Something that the code has written or drawn.

    Attributes:
        content: None where it is too large to be kept, or one too many.
    """

    name: str
    media_type: str
    size_bytes: int
    content: bytes | None


class Ended(Record, frozen=True, kw_only=True):
    """How code ended.

    Attributes:
        value: Of its last expression, else of the name assigned last.
        value_repr: What is shown of a value that JSON does not have.
        because: Why it was ended, in one word, or in words where it diverged.
        error: Class, message and traceback of what it raised, the frames of the code only.
        line: Where that was.
        remarks: What of the run is not here, in words.
        has_lost_names: Whether the names that earlier actions had left could not be restored.
        tainted_by: The untrusted sources that had a part in what it says of the code; None where that is not known.
    """

    status: Status
    value: JsonValue = None
    value_repr: str | None = None
    stdout: str = ""
    stderr: str = ""
    error: str | None = None
    line: int | None = None
    because: str | None = None
    artifacts: tuple[File, ...] = ()
    remarks: tuple[str, ...] = ()
    has_lost_names: bool = False
    tainted_by: Sources | None = None

    @property
    def keeps_names(self) -> bool:
        """Whether what it assigned is there for later actions."""
        return self.status in ("done", "error")


def ended_by(outcome: Outcome, *, file_bytes: int, files: int) -> Ended:
    """What a sandbox says, for the record.

    Args:
        outcome: What it says.
        file_bytes: How large a file may be to be kept.
        files: How many of them are.
    """
    assert outcome.status != "paused", "code that waits has not ended"
    return Ended(
        status=outcome.status,
        value=outcome.value,
        value_repr=outcome.value_repr,
        stdout=outcome.stdout,
        stderr=outcome.stderr,
        error=None if outcome.error is None else outcome.error.traceback,
        line=None if outcome.error is None else outcome.error.line,
        because=outcome.killed_because,
        remarks=outcome.remarks,
        tainted_by=sources_of(outcome),
        artifacts=tuple(
            File(
                name=file.name,
                media_type=file.media_type,
                size_bytes=len(file.content),
                content=file.content if number < files and len(file.content) <= file_bytes else None,
            )
            for number, file in enumerate(outcome.artifacts)
        ),
    )


def ended_to_text(ended: Ended) -> str:
    """The answer of a run whose model is code; what is at its default is left out."""
    data: JsonObject = {"status": ended.status}
    for name in ("value", "value_repr", "stdout", "stderr", "error", "line", "because", "has_lost_names"):
        value: Any = getattr(ended, name)
        if value not in (None, "", False) or (name == "value" and value is not None):
            data[name] = value
    if ended.remarks:
        data["remarks"] = list(ended.remarks)
    if ended.tainted_by is not None:
        data["tainted_by"] = list(ended.tainted_by)
    if ended.artifacts:
        data["artifacts"] = [
            {
                "name": file.name,
                "media_type": file.media_type,
                "size_bytes": file.size_bytes,
                "data": None if file.content is None else base64.b64encode(file.content).decode(),
            }
            for file in ended.artifacts
        ]
    return json.dumps(data, ensure_ascii=False)


def ended_from_text(text: str) -> Ended | None:
    """What `ended_to_text` was given; None if the text is something else: the run ended without an answer."""
    try:
        data: Any = json.loads(text)
        files = tuple(
            File(
                name=each["name"],
                media_type=each["media_type"],
                size_bytes=each["size_bytes"],
                content=None if each["data"] is None else base64.b64decode(each["data"]),
            )
            for each in data.pop("artifacts", ())
        )
        data |= {name: tuple(data[name]) for name in ("remarks", "tainted_by") if name in data}
        return Ended(**data, artifacts=files)
    except (ValueError, TypeError, AttributeError, KeyError):
        return None
