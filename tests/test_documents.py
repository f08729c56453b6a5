"""The documents hang together: no link leads nowhere, and the index leaves no page out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/*.md"), *ROOT.glob("examples/**/*.md")]
)


def links_of(document: Path) -> set[str]:
    """Targets of links in the prose; code is not prose."""
    text = document.read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)
    return set(re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", prose))


def anchors_of(document: Path) -> set[str]:
    """The anchors that a reader's browser makes of the headings."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(document: Path) -> None:
    dead: list[str] = []
    for link in sorted(links_of(document)):
        if re.match(r"[a-z][a-z+.-]*:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (document.parent / name).resolve() if name else document
        if not target.exists() or (anchor and anchor not in anchors_of(target)):
            dead.append(link)
    assert not dead, f"{document.relative_to(ROOT)} links to what is not there: {', '.join(dead)}"


def test_the_index_lists_every_document_and_every_decision() -> None:
    index = ROOT / "docs" / "README.md"
    listed = {(index.parent / link.partition("#")[0]).resolve() for link in links_of(index)}
    missing = [path for path in (ROOT / "docs").rglob("*.md") if path != index and path.resolve() not in listed]
    assert not missing, f"docs/README.md does not list {', '.join(str(path.relative_to(ROOT)) for path in missing)}"


def test_decisions_are_numbered_one_after_the_other() -> None:
    numbers = [path.name[:4] for path in sorted((ROOT / "docs" / "decisions").glob("*.md"))]
    assert numbers == [f"{number:04}" for number in range(1, len(numbers) + 1)]
