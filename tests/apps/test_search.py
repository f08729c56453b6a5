"""`wieldy search` finds tools in files, documents and configurations."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Wieldy = Callable[..., subprocess.CompletedProcess[str]]
TOOLS = '''
from wieldy import tool

@tool(effect="read")
def forecast(city: str) -> str:
    """Tomorrow's weather in a city."""
    return city

@tool(effect="unsafe")
def send_mail(to: str, body: str) -> str:
    """Send a mail to somebody."""
    return to
'''
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Shop", "version": "1"},
    "servers": [{"url": "http://127.0.0.1:1"}],
    "paths": {"/orders": {"get": {"operationId": "list_orders", "summary": "List the orders of a customer."}}},
}


@pytest.fixture
def catalogs(tmp_path: Path) -> list[str]:
    (tmp_path / "tools.py").write_text(TOOLS, encoding="utf-8")
    (tmp_path / "shop.json").write_text(json.dumps(DOCUMENT), encoding="utf-8")
    return ["--catalog", str(tmp_path / "tools.py"), "--catalog", str(tmp_path / "shop.json")]


def test_what_fits_is_listed_the_best_first(wieldy: Wieldy, catalogs: list[str]) -> None:
    ran = wieldy("search", "will it rain tomorrow", *catalogs)
    assert ran.returncode == 0
    assert ran.stdout.splitlines()[0].startswith("forecast")


def test_several_wishes_and_the_operations_of_a_service(wieldy: Wieldy, catalogs: list[str]) -> None:
    ran = wieldy("search", "orders of a customer", "write a mail", *catalogs, "--limit", "2", "--json")
    found = json.loads(ran.stdout)
    assert [tool["name"] for tool in found["tools"]] == ["list_orders", "send_mail"]
    assert found["among"] == 3


def test_where_nothing_fits_that_is_said(wieldy: Wieldy, catalogs: list[str]) -> None:
    ran = wieldy("search", "qqq zzz", *catalogs)
    assert ran.returncode == 1
    assert ran.stdout == ""
    assert "Nothing fits among 3 tools" in ran.stderr


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("missing.json", None, "cannot be read"),
        ("other.json", "{}", "expected a Python file"),
        ("list.json", "[1]", "expected a Python file"),
        ("broken.py", "def (", "broken.py:1"),
    ],
)
def test_what_is_no_catalogue_is_told(
    wieldy: Wieldy, tmp_path: Path, name: str, content: str | None, said: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content, encoding="utf-8")
    ran = wieldy("search", "x", "--catalog", str(tmp_path / name))
    assert ran.returncode == 2
    assert said in " ".join(ran.stderr.split())
