"""The proof by services that are made from documents: it says what is right, and it finds what is wrong."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def run() -> ModuleType:
    specification = importlib.util.spec_from_file_location("openapi_run", ROOT / "conformance" / "openapi" / "run.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules["openapi_run"] = module  # dataclasses look their module up
    specification.loader.exec_module(module)
    return module


def service() -> dict[str, Any]:
    address = {
        "type": "object",
        "required": ["city"],
        "properties": {"city": {"type": "string"}, "zip": {"nullable": True}},
    }
    listed = {"name": "ids", "in": "query", "explode": False, "schema": {"type": "array", "items": {"type": "integer"}}}
    deep = {
        "name": "filter",
        "in": "query",
        "style": "deepObject",
        "schema": {"type": "object", "properties": {"a": {}}},
    }
    path = {"name": "id", "in": "path", "required": True, "style": "matrix", "schema": {"type": "integer"}}
    form = {"type": "object", "properties": {"to": address, "tags": {"type": "array", "items": {"type": "string"}}}}
    return {
        "openapi": "3.0.0",
        "paths": {
            "/orders": {"get": {"operationId": "list", "parameters": [listed, deep]}},
            "/orders/{id}": {
                "parameters": [path],
                "get": {"operationId": "get"},
                "put": {"operationId": "put", "requestBody": {"content": {"application/json": {"schema": address}}}},
                "post": {
                    "operationId": "send",
                    "requestBody": {"content": {"application/x-www-form-urlencoded": {"schema": form}}},
                },
            },
        },
    }


def test_every_call_is_read_as_it_was_meant(run: ModuleType) -> None:
    outcome = asyncio.run(run.call_all(service(), operations=10))
    assert (outcome.called, outcome.right, dict(outcome.wrong)) == (4, 4, {})


def test_a_value_that_arrives_otherwise_is_found(run: ModuleType) -> None:
    other = service()
    other["paths"]["/orders/{id}"]["parameters"][0]["style"] = "simple"
    outcome = asyncio.run(run.call_all(service(), operations=10, served=other))
    assert (outcome.called, outcome.right) == (4, 1)
    assert all("id: " in wrong for wrong in outcome.wrong)
