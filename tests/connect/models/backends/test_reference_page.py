"""The reference of servers shows what the backends do."""

from __future__ import annotations

import runpy
from pathlib import Path

from wieldy.connect.models.backends import BACKENDS

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs" / "reference" / "backends.md").read_text(encoding="utf-8")


def test_the_page_is_up_to_date() -> None:
    written = runpy.run_path(str(ROOT / "scripts" / "backend_reference.py"))["page_with"](PAGE)
    is_same = written == PAGE
    assert is_same, "Run `python scripts/backend_reference.py` and look at what changed in docs/reference/backends.md."


def test_the_page_has_every_backend() -> None:
    assert [name for name in BACKENDS if f"| `{name}` |" not in PAGE] == []
