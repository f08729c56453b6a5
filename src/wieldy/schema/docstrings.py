"""What a docstring says: its prose, and what it says about each parameter.

Google, NumPy, Sphinx and Epydoc styles are told apart by which of them finds the most; the parsing itself is
docstring-parser's. Sections about results, errors and examples are for readers of the code and are left out of the
prose; notes stay in it. A docstring that no style can read is taken as prose whole, so nothing gets lost.
"""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from docstring_parser import Docstring, DocstringStyle, ParseError, google, parse

_GOOGLE = google.GoogleParser(
    [
        *google.DEFAULT_SECTIONS,
        google.Section("Keyword Args", "param", google.SectionType.MULTIPLE),
        google.Section("Keyword Arguments", "param", google.SectionType.MULTIPLE),
        google.Section("Other Parameters", "param", google.SectionType.MULTIPLE),
        google.Section("Note", "note", google.SectionType.SINGULAR),
        google.Section("Notes", "note", google.SectionType.SINGULAR),
        google.Section("Warning", "warning", google.SectionType.SINGULAR),
    ]
)
_OTHER_STYLES = (DocstringStyle.NUMPYDOC, DocstringStyle.REST, DocstringStyle.EPYDOC)
_NO_PROSE = "(none)"
_NOTES = {"note": "Note", "notes": "Note", "warning": "Warning", "warnings": "Warning"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Documentation:
    """A docstring, read.

    Attributes:
        prose: What the whole does; paragraphs are kept, line breaks within them are not.
        parameters: What each parameter means, by name.
    """

    prose: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])


def read_docstring(text: str | None) -> Documentation:
    """The docstring's prose and parameters; empty for None."""
    if not text or not text.strip():
        return Documentation()
    clean = _headed(inspect.cleandoc(text))
    readings = list(_readings(clean))
    if not readings:
        return Documentation(prose=_joined(clean))
    best = max(readings, key=lambda reading: (len(reading.params), len(reading.meta)))
    return Documentation(prose=_prose(best).removeprefix(_NO_PROSE), parameters=_parameters(best))


def _headed(text: str) -> str:
    """A docstring that begins with a section's title, put so that it is seen as one: indented, after some prose."""
    title, _, rest = text.partition("\n")
    if title not in {"Args:", "Arguments:", "Parameters:", "Params:"}:
        return text
    return f"{_NO_PROSE}\n\n{title}\n" + "\n".join(f"    {line}" for line in rest.split("\n"))


def _readings(text: str) -> Iterator[Docstring]:
    with contextlib.suppress(ParseError):
        yield _GOOGLE.parse(text)
    for style in _OTHER_STYLES:
        with contextlib.suppress(ParseError):
            yield parse(text, style)


def _prose(docstring: Docstring) -> str:
    parts = [docstring.short_description or ""]
    # A first sentence that runs over two lines is one sentence.
    parts.append("\n\n" if docstring.blank_after_short_description else "\n")
    parts.append(docstring.long_description or "")
    for meta in docstring.meta:
        title = _NOTES.get(meta.args[0]) if meta.args else None
        if title and meta.description:
            parts.append(f"\n\n{title}: {meta.description}")
    return _joined("".join(parts))


def _parameters(docstring: Docstring) -> dict[str, str]:
    # Attributes are a class's parameters; docstring-parser files both under the same record.
    found: dict[str, str] = {}
    for parameter in docstring.params:
        if parameter.description:
            for name in parameter.arg_name.split(","):
                found.setdefault(name.strip().lstrip("*"), _joined(parameter.description))
    return found


def _joined(text: str) -> str:
    """The text with the lines of each paragraph on one line; lists and indented blocks keep their lines."""
    paragraphs = re.split(r"\n[ \t]*\n", inspect.cleandoc(text))
    return "\n\n".join(_paragraph(paragraph) for paragraph in paragraphs if paragraph.strip())


def _paragraph(paragraph: str) -> str:
    lines = [line.rstrip() for line in paragraph.strip("\n").split("\n")]
    if any(re.match(r"\s|[-*+•>|]|\d+[.)]\s", line) for line in lines):
        return "\n".join(lines)
    return " ".join(line.strip() for line in lines)
