"""The guide's code does what the guide says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from wieldy.core.context import Context
from wieldy.run.results import ResultRules

GUIDE = (Path(__file__).parents[3] / "docs" / "how-to" / "results.md").read_text(encoding="utf-8")
PNG = b"\x89PNG\r\n\x1a\n" + bytes(18_192)


@pytest.fixture
def guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the guide's code defines; what it takes for granted is added."""
    monkeypatch.chdir(tmp_path)
    Path("report.pdf").write_bytes(b"%PDF-1.7" + bytes(41_992))

    async def my_small_model(prompt: str) -> str:
        return f"A summary ({prompt.partition(':')[0]})."

    names: dict[str, Any] = {
        "draw": lambda year: PNG,
        "my_small_model": my_small_model,
        "ask_bank": lambda account, key: f"{account}: 5, asked with {key}",
        "download": lambda url: "Opening hours: 9 to 5.",
        "__name__": "guide",
    }
    for code in re.findall(r"^```python\n(.*?)^```", GUIDE, flags=re.MULTILINE | re.DOTALL):
        exec(code, names)
    return names


def test_images_and_files_are_named_as_shown(guide: dict[str, Any], shape: Any) -> None:
    sales = guide["sales"]
    result = shape(sales(2026), of=sales, arguments={"year": 2026}).result
    assert f"```\n{result.content}\n```" in GUIDE
    assert len(result.parts) == 2


def test_what_is_left_out_is_said_as_shown(shape: Any) -> None:
    content = shape("x" * 5_000_000).result.content
    sentence = re.search(r"^\[.*\]$", content, re.MULTILINE)
    shown = re.search(r"^\[Characters .*?\]$", GUIDE, re.MULTILINE | re.DOTALL)
    assert sentence
    assert shown
    numbers = sentence[0].replace("c1", "call_3").replace("4995904", "4983000")
    assert " ".join(shown[0].split()) == numbers


def test_the_summariser_is_asked_as_described(guide: dict[str, Any], shape: Any) -> None:
    rules = ResultRules(limit_bytes=8192, summarise=guide["summarise"])
    assert shape("x" * 8193, rules=rules).result.content.endswith("\nA summary (In five lines, for `fetch`).")


def test_the_secret_is_masked_as_described(guide: dict[str, Any], shape: Any) -> None:
    secrets = {"bank": "sk-live-1234567890"}
    context = Context(run_id="r", call_id="c1", tool_name="balance", idempotency_key="k", secrets=secrets)
    result = shape(guide["balance"]("17", context), secrets=secrets).result
    assert result.content == "17: 5, asked with [secret bank]"


def test_strangers_words_are_set_apart_as_shown(guide: dict[str, Any], shape: Any) -> None:
    page = guide["read_page"]
    content = shape(page("https://example.com/"), of=page, arguments={"url": "https://example.com/"}).result.content
    assert f"```\n{re.sub('[0-9a-f]{16}', '5f0c1b7e9d3a4268', content)}\n```" in GUIDE
