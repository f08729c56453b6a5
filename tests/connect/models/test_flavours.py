"""Which kind of server it is, by its host and by what it says of itself."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.connect.models.flavours import by_host, by_models, by_version

SAID = {
    "vllm": ("uvicorn", {"object": "list", "data": [{"id": "m", "object": "model", "owned_by": "vllm"}]}),
    "sglang": ("uvicorn", {"data": [{"id": "m", "owned_by": "sglang"}]}),
    "llama_server": ("llama.cpp", {"data": [{"id": "m", "owned_by": "llamacpp"}]}),
    "lm_studio": ("", {"data": [{"id": "a", "owned_by": "organization_owner"}, {"id": "b"}]}),
}


@pytest.mark.parametrize("name", SAID)
def test_a_server_is_known_by_its_list_of_models(name: str) -> None:
    server, listed = SAID[name]
    assert by_models(server=server, body=json.dumps(listed)) == name


def test_llama_server_is_known_by_its_header_alone() -> None:
    assert by_models(server="llama.cpp", body="") == "llama_server"


def test_what_says_nothing_or_two_things_is_not_guessed() -> None:
    mixed = {"data": [{"owned_by": "vllm"}, {"owned_by": "sglang"}]}
    for listed in (mixed, {"data": [{"owned_by": "openai"}]}, {"data": "vllm"}, ["vllm"], None):
        assert by_models(server="uvicorn", body=json.dumps(listed)) is None


def test_ollama_is_known_by_its_version() -> None:
    assert by_version('{"version": "0.40.12"}') == "ollama"
    assert by_version('{"version": 1}') is None


@given(text=st.text())
def test_whatever_a_server_says_is_harmless(text: str) -> None:
    by_models(server=text, body=text)
    by_version(text)


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("api.openai.com", "openai"),
        ("mine.openai.azure.com", "azure"),
        ("mine.services.ai.azure.com", "azure"),
        ("api.deepseek.com", "json_object"),
        ("openai.azure.com.example.org", None),
        ("127.0.0.1", None),
    ],
)
def test_a_known_host_need_not_be_asked(host: str, name: str | None) -> None:
    assert by_host(host) == name
