from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.apps.cli.recipe import Recipe
from wieldy.core.errors import UsageError
from wieldy.core.limits import Limits

limits = st.builds(
    Limits,
    turns=st.none() | st.integers(1, 100),
    cost_usd=st.none() | st.floats(0.001, 100),
    wall_time_s=st.none() | st.floats(0.001, 1e6),
)
recipes = st.builds(
    Recipe,
    model=st.none()
    | st.sampled_from(["local", "openai:gpt-6", "http://127.0.0.1:8080/v1#small", "local:/models/a.gguf"]),
    tools_files=st.lists(st.sampled_from([Path("/a/shop.py"), Path("/b/weather tools.py")])).map(tuple),
    mcp=st.lists(
        st.sampled_from(["/a/servers.json", "https://example.org/mcp", "uvx mcp-server-time", "python -m 'a b'"])
    ).map(tuple),
    actions=st.sampled_from(["calls", "react", "json"]),
    skills=st.none() | st.just(Path("/c/skills")),
    strategy=st.sampled_from([None, "guided", "native"]),
    limits=limits,
    asks=st.booleans(),
    pauses=st.booleans(),
)


@given(recipes)
def test_a_recipe_comes_back_from_the_record_as_it_was(recipe: Recipe) -> None:
    assert Recipe.from_metadata(json.loads(json.dumps(recipe.to_metadata()))) == recipe


def test_paths_are_absolute_so_that_another_folder_finds_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    recorded = Recipe.from_metadata(Recipe(model="local: a.gguf", tools_files=(Path("shop.py"),)).to_metadata())

    assert recorded is not None
    assert recorded.model == f"local:{tmp_path / 'a.gguf'}"
    assert recorded.tools_files == (tmp_path / "shop.py",)


@pytest.mark.parametrize("model", ["http://me:secret@127.0.0.1/v1#small", "https://key@host/v1", "http://[broken"])
def test_an_address_that_holds_a_secret_is_not_recorded(model: str) -> None:
    metadata = Recipe(model=model).to_metadata()

    assert model not in json.dumps(metadata)
    assert Recipe.from_metadata(metadata) == Recipe(model=None)


def test_a_run_of_another_program_has_no_recipe() -> None:
    assert Recipe.from_metadata({"order": 17}) is None


@pytest.mark.parametrize(
    "recorded",
    [
        {},
        [],
        7,
        "local",
        {**Recipe(model="local").to_metadata()["command_line"], "actions": "dance"},  # type: ignore[dict-item]
        {**Recipe(model="local").to_metadata()["command_line"], "model": 7},  # type: ignore[dict-item]
        {**Recipe(model="local").to_metadata()["command_line"], "asks": "yes"},  # type: ignore[dict-item]
        {**Recipe(model="local").to_metadata()["command_line"], "limits": {"turns": "many"}},  # type: ignore[dict-item]
        {**Recipe(model="local").to_metadata()["command_line"], "limits": {"hours": 7}},  # type: ignore[dict-item]
    ],
)
def test_a_recipe_of_another_version_is_refused_with_a_sentence(recorded: object) -> None:
    with pytest.raises(UsageError, match="another version of Wieldy wrote it"):
        Recipe.from_metadata({"command_line": recorded})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    "service", ["https://me:word@example.org/mcp", "https://example.org/mcp?x=1", "uvx server --api-key=1234"]
)
def test_services_that_may_hold_a_secret_are_not_recorded_and_have_to_be_named_again(service: str) -> None:
    metadata = Recipe(model="local", mcp=(service, "uvx time")).to_metadata()
    assert service not in json.dumps(metadata)
    with pytest.raises(UsageError, match="--mcp"):
        Recipe.from_metadata(metadata)
    again = Recipe.from_metadata(metadata, mcp=(service,))
    assert again is not None
    assert again.mcp == (service,)


def test_a_record_from_before_there_were_services_is_read() -> None:
    metadata = Recipe(model="local").to_metadata()
    recorded = metadata["command_line"]
    assert isinstance(recorded, dict)
    del recorded["mcp"]
    assert Recipe.from_metadata(metadata) == Recipe(model="local")
