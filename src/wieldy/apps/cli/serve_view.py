"""What a person sees of a model that is served: where it listens, how to ask it, and a line for each request.

Deliberately not here: the server itself (`connect.serving.chat`).
"""

from __future__ import annotations

import json as json_module
import os
import socket
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import anyio
from rich.text import Text

from wieldy.apps.cli.download import fetch_embedded
from wieldy.apps.cli.facts import counted
from wieldy.apps.cli.json_lines import json_line, print_json
from wieldy.apps.cli.terminal import err, flush_streams, out
from wieldy.apps.cli.untrusted import neutralise
from wieldy.connect.models.resolve import resolve
from wieldy.connect.serving import listening as server
from wieldy.connect.serving.chat.application import ChatRules, chat_application
from wieldy.connect.serving.keys import Keys
from wieldy.core.errors import UsageError
from wieldy.core.extras import installing

if TYPE_CHECKING:
    from wieldy.connect.serving.chat.watching import Told
    from wieldy.core.json import JsonObject
    from wieldy.core.ports import Model

_LOCAL: Final = "local"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the command was given."""

    model: str | None
    upstream: str | None
    upstream_key_env: str | None
    name: str | None
    host: str
    port: int
    key_env: str | None
    retries: int
    chat_format: str | None
    is_constrained: bool


def serve_chat(asked: Asked, *, json: bool) -> None:
    """Serve until the process is asked to end.

    Raises:
        UsageError: An option cannot be used, or the port is taken.
        ModelNotAvailableError: The embedded model is not here and cannot be had.
        ModelError: The model's name is to be had of its server only, and that could not be asked.
    """
    _check_library()
    keys = None if asked.key_env is None else Keys.of({"client": _secret(asked.key_env, option="--key-env")})
    server.check_exposure(asked.host, keys)
    model = _model(asked)
    name = asked.name or _name_of(model)
    rules = ChatRules(name=name, retries=asked.retries, tell=_tell_in_json if json else _tell)
    app, stop = chat_application(model, rules=rules, keys=keys, host=asked.host)
    with server.listening(asked.host, asked.port) as place:
        tell = partial(_tell_start, place, name, key_env=asked.key_env, json=json)
        server.serve_until_asked_to_end(app, place, on_start=tell, on_stop=stop)


def _check_library() -> None:
    try:
        import starlette  # noqa: F401, PLC0415  # pyright: ignore[reportUnusedImport]
        import uvicorn  # noqa: F401, PLC0415  # pyright: ignore[reportUnusedImport]
    except ImportError as error:
        raise UsageError(
            f"Serving needs starlette and uvicorn ({error}). Install them: {installing('gateway')}."
        ) from error


def _model(asked: Asked) -> Model:
    if asked.upstream is None:
        if asked.upstream_key_env is not None:
            raise UsageError("--upstream-key-env is the key of a server: expected --upstream beside it.")
        if (asked.model or _LOCAL).strip() == _LOCAL:
            fetch_embedded()
        return resolve(asked.model or _LOCAL, chat_format=asked.chat_format, constrained=asked.is_constrained)
    if asked.model is not None:
        raise UsageError("Expected one of --model and --upstream, found both.")
    return _upstream(asked.upstream, asked)


def _upstream(url: str, asked: Asked) -> Model:
    # Imported here because it brings an HTTP client along.
    from wieldy.connect.models.openai import OpenAIModel  # noqa: PLC0415
    from wieldy.connect.models.retries import NO_RETRIES  # noqa: PLC0415

    variable = asked.upstream_key_env
    address, _, name = url.strip().partition("#")
    return OpenAIModel(
        name.strip() or None,
        base_url=address,
        api_key=None if variable is None else _secret(variable, option="--upstream-key-env"),
        # A client of this server tries again by itself, and is told how long to wait.
        retries=NO_RETRIES,
        chat_format=asked.chat_format,
        constrained=asked.is_constrained,
    )


def _name_of(model: Model) -> str:
    """What the model is called where it is served from, which is what clients know it by.

    Raises:
        ModelError: Its server could not be asked.
        UsageError: Its server serves none or several.
    """
    from wieldy.connect.models.openai import OpenAIModel  # noqa: PLC0415 - as above

    return anyio.run(model.find_model) if isinstance(model, OpenAIModel) else model.name


def _secret(variable: str, *, option: str) -> str:
    found = os.environ.get(variable, "").strip()
    if not found:
        raise UsageError(f"{option}: expected a key in the environment variable {variable!r}, found none.")
    return found


def _tell_start(place: socket.socket, name: str, *, key_env: str | None, json: bool) -> None:
    host, port = place.getsockname()[:2]
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}/v1"
    if json:
        print_json({"type": "listening", "url": url, "model": name})
    else:
        out().block(Text(f"Listening: {url} (model {neutralise(name)})"))
        out().block(Text(f"Try: {_curl(url, name, key_env)}"))
    flush_streams()


def _curl(url: str, name: str, key_env: str | None) -> str:
    body = json_module.dumps({"model": name, "messages": [{"role": "user", "content": "Hello"}]}).replace("'", "'\\''")
    key = "" if key_env is None else f' -H "Authorization: Bearer ${key_env}"'
    return f"curl {url}/chat/completions{key} -H 'Content-Type: application/json' -d '{neutralise(body)}'"


def _tell(told: Told) -> None:
    usage = told.usage
    words = [f"{told.method} {told.path}", str(told.status), told.model]
    if usage.requests:
        words.append(f"{usage.input_tokens}+{usage.output_tokens} tokens")
    counts = ((told.calls, "call"), (told.repairs, "repair"))
    words += [counted(number, what) for number, what in counts if number]
    words += [f"asked {told.retries + 1} times"] if told.retries else []
    words += [told.code] if told.code else []
    err().block(Text(neutralise(f"{' · '.join(words)} · {told.seconds:.2f} s")))


def _tell_in_json(told: Told) -> None:
    line: JsonObject = {
        "type": "request",
        "method": told.method,
        "path": told.path,
        "model": told.model,
        "status": told.status,
        "code": told.code,
        "stream": told.is_streamed,
        "input_tokens": told.usage.input_tokens,
        "output_tokens": told.usage.output_tokens,
        "calls": told.calls,
        "repairs": told.repairs,
        "retries": told.retries,
        "seconds": round(told.seconds, 4),
    }
    stream = err().file
    stream.write(json_line(line))
    stream.flush()
