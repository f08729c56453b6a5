"""Importing the package is cheap, starts nothing, and gives every name that it promises."""

import importlib
import pkgutil
import subprocess
import sys

import wieldy
from wieldy import core


def run_python(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60, check=True
    ).stdout.strip()


def test_every_promised_name_is_there_and_is_listed() -> None:
    for name in wieldy.__all__:
        assert getattr(wieldy, name) is not None
    assert set(wieldy.__all__) <= set(dir(wieldy))
    assert len(set(wieldy.__all__)) == len(wieldy.__all__)


def test_every_error_record_and_port_of_the_vocabulary_is_importable_from_the_package() -> None:
    modules = [importlib.import_module(f"wieldy.core.{found.name}") for found in pkgutil.iter_modules(core.__path__)]
    classes = {
        name
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == module.__name__ and not name.startswith("_")
    }
    assert {"ToolCall", "ToolDeniedError", "Limits", "Journal"} <= classes
    assert classes <= set(wieldy.__all__)


def test_a_name_that_is_not_there_is_said_to_be_missing() -> None:
    assert run_python("import wieldy; print(hasattr(wieldy, 'Agnet'), hasattr(wieldy, '__path__'))") == "False True"
    assert "no attribute 'Agnet'" in run_python(
        "try:\n    from wieldy import Agnet\nexcept ImportError as error:\n    print(\"no attribute 'Agnet'\", error)"
    )


def test_the_modules_that_users_name_are_there_without_importing_them() -> None:
    assert (
        run_python(
            "import wieldy\nprint(wieldy.formats.get('hermes').name, wieldy.testing.ScriptedModel.__name__, "
            "wieldy.grammar.Grammar.__name__, wieldy.connect.__name__)"
        )
        == "hermes ScriptedModel Grammar wieldy.connect"
    )


def test_importing_loads_nothing_that_is_heavy_and_starts_nothing() -> None:
    loaded = run_python(
        "import sys, threading, wieldy\n"
        "print(threading.active_count(), *sorted({name.partition('.')[0] for name in sys.modules}))"
    ).split()
    assert loaded[0] == "1"
    assert not {"pydantic", "anyio", "asyncio", "httpx2", "rich", "typer", "sqlite3", "huggingface_hub"} & set(loaded)


def test_using_the_names_loads_no_client_no_runtime_and_no_terminal() -> None:
    loaded = run_python(
        "import sys\nfrom wieldy import *\nprint(*sorted({name.partition('.')[0] for name in sys.modules}))"
    ).split()
    heavy = {"httpx2", "rich", "typer", "jinja2", "huggingface_hub", "xllamacpp", "llguidance", "numpy"}
    assert not heavy & set(loaded)
