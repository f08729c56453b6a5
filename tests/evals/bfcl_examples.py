"""Small data of our own in BFCL's shape."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from wieldy.evals.bfcl.categories import CATEGORIES
from wieldy.evals.bfcl.data import BfclTask


def function(name: str, properties: dict[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    """A function as BFCL describes one."""
    return {
        "name": name,
        "description": f"Do {name}.",
        "parameters": {
            "type": "dict",
            "properties": properties,
            "required": list(properties) if required is None else required,
        },
    }


BOOK = function(
    "trips.book",
    {
        "city": {"type": "string", "description": "Where to."},
        "nights": {"type": "integer", "description": "How many nights."},
        "price": {"type": "float", "description": "At most, in dollars. Default is 99.5"},
        "tags": {"type": "array", "items": {"type": "string"}, "description": "What matters."},
    },
    ["city", "nights"],
)
BOOK_ANSWER = {
    "trips.book": {
        "city": ["Aix-en-Provence", "Aix"],
        "nights": [3],
        "price": [120.0, ""],
        "tags": [["sea view", "quiet"], ""],
    }
}
FIND = function("find", {"query": {"type": "string", "description": "Words."}})


def task(
    category: str = "simple_python",
    *,
    functions: tuple[dict[str, Any], ...] = (BOOK,),
    answers: tuple[dict[str, Any], ...] = (BOOK_ANSWER,),
    id: str | None = None,
) -> BfclTask:
    """One task of ours."""
    return BfclTask(
        id=id or f"{category}_0",
        category=CATEGORIES[category],
        messages=(("user", "Book three nights in Aix."),),
        functions=functions,
        answers=answers if CATEGORIES[category].wanted == "calls" else (),
    )


def write_data(folder: Path, tasks: list[BfclTask]) -> Path:
    """The tasks as BFCL's files, one for each category; categories without tasks have empty files."""
    (folder / "possible_answer").mkdir(parents=True)
    for category in CATEGORIES.values():
        own = [each for each in tasks if each.category == category]
        rows = [
            {
                "id": each.id,
                "question": [[{"role": role, "content": content} for role, content in each.messages]],
                "function": list(each.functions),
            }
            for each in own
        ]
        answers = [{"id": each.id, "ground_truth": list(each.answers)} for each in own]
        _write(folder / f"BFCL_v4_{category.name}.json", rows)
        if category.wanted == "calls":
            _write(folder / "possible_answer" / f"BFCL_v4_{category.name}.json", answers)
    return folder


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
