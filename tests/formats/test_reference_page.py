"""The reference of the chat formats shows the formats as they are."""

from __future__ import annotations

import runpy
from pathlib import Path

import wieldy.formats
from wieldy.formats import names

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "chat-formats.md").read_text(encoding="utf-8")


def test_the_page_is_up_to_date() -> None:
    written = runpy.run_path(str(ROOT / "scripts" / "format_reference.py"))["page_with"](PAGE)

    is_same = written == PAGE
    assert is_same, (
        "Run `python scripts/format_reference.py` and look at what changed in docs/reference/chat-formats.md."
    )


def test_the_page_has_every_format_and_every_public_name() -> None:
    missing = [name for name in names() if f"\n### {name}\n" not in PAGE]
    missing += [name for name in wieldy.formats.__all__ if name[0].isupper() and f"`{name}" not in PAGE]

    assert missing in ([], ["ParseEvent"])
