"""A model from a string: the edge where the environment is read.

| string                     | model                                                                             |
|----------------------------|-----------------------------------------------------------------------------------|
| `local`                    | the embedded default                                                              |
| `local:PATH.gguf`          | a file of weights on this machine                                                 |
| `hf:NAME_OR_PATH`          | a model of the transformers library, from the hub or a folder                     |
| `openai:NAME`              | OpenAI, or the server at `OPENAI_BASE_URL`; the key is `OPENAI_API_KEY`           |
| `anthropic:NAME`           | Anthropic; the key is `ANTHROPIC_API_KEY`                                         |
| `http://HOST:PORT/v1#NAME` | any OpenAI-compatible server, without a key; `#NAME` may be left out if it serves |
|                            | exactly one model                                                                 |

Each branch imports what it needs: an HTTP client takes 60 ms to load and llama.cpp more, and a program needs one of
them.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypedDict

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonValue
from wieldy.core.ports import Model

_FORMS = ("local", "local:PATH.gguf", "hf:NAME_OR_PATH", "openai:NAME", "anthropic:NAME", "http://HOST:PORT/v1#NAME")
_KINDS = ("local", "hf", "openai", "anthropic", "http", "https")
_FAMILIES = {"gpt-": "openai", "o1": "openai", "o3": "openai", "o4": "openai", "claude": "anthropic"}


class Settings(TypedDict):
    """What else is said of a model."""

    chat_format: str | None
    constrained: bool


def resolve(
    model: str | Model, *, chat_format: str | None = None, constrained: bool = True, seed: int | None = None
) -> Model:
    """The model that a string names; a `Model` is given back as it is. Nothing is opened or sent.

    Args:
        model: The string, or a model.
        chat_format: How it writes calls, by the name of a chat format; None to find that out.
        constrained: Whether replies are held to tools and outputs by the hardest means that there are.
        seed: Sent with every request to servers of the OpenAI protocol. Models in this process always take the
            likeliest token, and Anthropic takes no seed.

    Raises:
        UsageError: The string names no model, a key is missing, it is neither a string nor a model, or a setting cannot
            be made of this one.
    """
    if not isinstance(model, str):
        if chat_format is not None or not constrained or seed is not None:
            raise UsageError(f"{model!r} has its settings already: give the name of a model with others.")
        return _checked(model)
    settings = Settings(chat_format=chat_format, constrained=constrained)
    text = model.strip()
    kind, colon, rest = text.partition(":")
    match kind.lower():
        case "local":
            return _local(rest, has_path=bool(colon), settings=settings)
        case "hf" if rest.strip():
            return _hf(rest.strip(), settings)
        case "openai" if rest.strip():
            return _openai(rest.strip(), settings, _seeded(seed))
        case "anthropic" if rest.strip():
            return _anthropic(rest.strip(), settings)
        case "http" | "https" if rest.startswith("//"):
            return _server(text, settings, _seeded(seed))
        case "script":
            raise UsageError(f"{text!r} answers from what a task wants: only `wieldy eval --model {text}` has tasks.")
        case _:
            raise UsageError(_unknown_text(text))


def _seeded(seed: int | None) -> Mapping[str, JsonValue] | None:
    return None if seed is None else {"seed": seed}


def _checked(model: Model) -> Model:
    # A caller without a type checker may hand over anything.
    if isinstance(model, type) or not callable(getattr(model, "stream", None)) or not hasattr(model, "name"):
        found = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
        raise UsageError(f"Expected a model or a string that names one ({', '.join(_FORMS)}), found {found}.")
    return model


def _local(path_text: str, *, has_path: bool, settings: Settings) -> Model:
    path = _weights(path_text) if has_path else None
    from wieldy.connect.models.local import LocalModel  # noqa: PLC0415 (see the module's docstring)

    return LocalModel(path=path, name=f"local:{path.name}" if path else "local", **settings)


def _weights(path_text: str) -> Path:
    if not path_text.strip():
        raise UsageError("Expected a path after 'local:', found nothing. Write local:PATH.gguf, or local alone.")
    try:
        path = Path(path_text.strip()).expanduser()
        is_file = path.is_file()
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"The path in {'local:' + path_text!r} cannot be read: {error}") from error
    if not is_file:
        raise UsageError(f"Expected a file of weights (.gguf) at {str(path.absolute())!r}, found none.")
    return path


def _hf(source: str, settings: Settings) -> Model:
    from wieldy.connect.models.transformers import HfModel  # noqa: PLC0415

    return HfModel(source, **settings)


def _openai(name: str, settings: Settings, options: Mapping[str, JsonValue] | None) -> Model:
    from wieldy.connect.models.openai import OPENAI_URL, OpenAIModel  # noqa: PLC0415

    base_url = _setting("OPENAI_BASE_URL") or OPENAI_URL
    api_key = _setting("OPENAI_API_KEY")
    if api_key is None and base_url.rstrip("/") == OPENAI_URL:
        raise UsageError(
            f"'openai:{name}' needs a key: set OPENAI_API_KEY. For another server set OPENAI_BASE_URL, "
            "or write its address: http://HOST:PORT/v1#NAME."
        )
    return OpenAIModel(name, base_url=base_url, api_key=api_key, name=f"openai:{name}", options=options, **settings)


def _anthropic(name: str, settings: Settings) -> Model:
    from wieldy.connect.models.anthropic import AnthropicModel  # noqa: PLC0415

    api_key = _setting("ANTHROPIC_API_KEY")
    if api_key is None:
        raise UsageError(f"'anthropic:{name}' needs a key: set ANTHROPIC_API_KEY.")
    if settings["chat_format"] is not None:
        raise UsageError(f"'anthropic:{name}' writes calls as its provider has it: expected no chat format.")
    return AnthropicModel(name, api_key=api_key, constrained=settings["constrained"])


def _server(text: str, settings: Settings, options: Mapping[str, JsonValue] | None) -> Model:
    from wieldy.connect.models.openai import OpenAIModel  # noqa: PLC0415

    address, _, name = text.partition("#")
    return OpenAIModel(name.strip() or None, base_url=address, options=options, **settings)


def _setting(name: str) -> str | None:
    return os.environ.get(name, "").strip() or None


def _unknown_text(text: str) -> str:
    nearest = _nearest(text)
    hint = f" Did you mean {nearest!r}?" if nearest else ""
    found = repr(text) if len(text) <= 200 else f"{text[:200]!r}..."
    return f"Expected a model as one of {', '.join(_FORMS)}; found {found}.{hint}"


def _nearest(text: str) -> str | None:
    kind, colon, rest = text.partition(":")
    if text.lower().endswith(".gguf"):
        return f"local:{text}"
    if kind in _KINDS:
        return next(form for form in reversed(_FORMS) if form.startswith(kind[:4]))
    if colon and rest[:1].isdigit():
        return f"http://{text}"
    family = next((provider for start, provider in _FAMILIES.items() if text.lower().startswith(start)), None)
    if family is not None:
        return f"{family}:{text}"
    close = difflib.get_close_matches(kind.lower(), _KINDS, n=1)
    return f"{close[0]}{colon}{rest}" if close else None
