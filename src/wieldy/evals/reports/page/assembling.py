"""A page put together from its parts: one style and one script, which its content security policy names by digest.

Whoever reads the page needs nothing else, and nothing else can run in it. Source: Content Security Policy Level 3.
Deliberately not here: the parts (`shell/`), and what the page shows.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

STYLE: Final = "report.css"
"""The style that all pages have in common."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """A page, and what its policy has to allow.

    Attributes:
        html: The page, with its style and its script in it.
        style_source: The style as a content security policy names it.
        script_source: The script likewise.
    """

    html: str
    style_source: str
    script_source: str


def assembled(page: str, *, style: str, scripts: Iterable[str]) -> Assembled:
    """The page with its parts in it.

    Args:
        page: With the marks `{{STYLE}}`, `{{SCRIPT}}`, `{{STYLE_DIGEST}}` and `{{SCRIPT_DIGEST}}` where they belong.
        style: All of its style.
        scripts: The parts of its script, which share one scope of their own.
    """
    parts = "\n".join(scripts)
    script = f'"use strict";\n(() => {{\n{parts}}})();\n'
    sources = _source(style), _source(script)
    for mark, text in zip(("STYLE_DIGEST", "SCRIPT_DIGEST"), sources, strict=True):
        page = page.replace(f"{{{{{mark}}}}}", text)
    page = page.replace("{{STYLE}}", style).replace("{{SCRIPT}}", script)
    return Assembled(html=page, style_source=sources[0], script_source=sources[1])


def part(name: str) -> str:
    """A part of the page by the name of its file."""
    return (files("wieldy.evals.reports.page") / "shell" / name).read_text(encoding="utf-8")


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
