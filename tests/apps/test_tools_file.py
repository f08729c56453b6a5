from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from wieldy.apps.cli.tools_file import load_tools
from wieldy.core.errors import UsageError


@pytest.fixture(autouse=True)
def import_state() -> Iterator[None]:
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def write(folder: Path, text: str, name: str = "tools.py") -> Path:
    file = folder / name
    file.write_text(dedent(text), encoding="utf-8")
    return file


def names(*files: Path) -> list[str]:
    return [tool.name for tool in load_tools(files).tools]


def refusal(file: Path) -> str:
    with pytest.raises(UsageError) as caught:
        load_tools([file])
    return str(caught.value)


def test_tools_and_toolsets_are_taken_and_plain_functions_beside_them_are_not(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        '''
        from wieldy import Toolset, tool

        @tool
        def first() -> str:
            """One."""

        @tool
        def second() -> str:
            """Two."""

        def not_a_tool() -> str:
            """Used by the tools."""

        @tool
        def _private() -> str:
            """Hidden."""

        both = Toolset([first, second])
        again = first
        prefixed = Toolset([first]).prefixed("x_")
        ''',
    )

    assert sorted(names(file)) == ["first", "second", "x_first"]


def test_without_tools_the_public_functions_that_the_file_defines_are_taken(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        '''
        from __future__ import annotations
        from dataclasses import dataclass
        from json import dumps
        from textwrap import dedent

        @dataclass
        class Point:
            x: int

        def place(point: Point) -> str:
            """Place a point."""
            return dumps(point.x)

        def _helper() -> None: ...

        if __name__ == "__main__":
            raise SystemExit("not when imported")
        ''',
    )

    [tool] = load_tools([file]).tools

    assert tool.name == "place"
    assert tool.effect == "unsafe"
    assert not tool.effect_declared


def test_a_file_may_say_itself_what_is_public(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        '''
        __all__ = ["_odd", "missing", 5]

        def _odd() -> str:
            """Odd but wanted."""

        def plain() -> str:
            """Not listed."""
        ''',
    )
    other = write(
        tmp_path,
        '''
        def plain() -> str:
            """Listed in nothing."""
        ''',
        "other.py",
    )

    assert names(file, other) == ["_odd", "plain"]


def test_files_may_import_their_neighbours(tmp_path: Path) -> None:
    write(tmp_path, "NAME = 'neighbour'", "neighbour_of_tools.py")
    file = write(tmp_path, "import neighbour_of_tools\ndef tell() -> str:\n    return neighbour_of_tools.NAME")

    assert names(file) == ["tell"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1", "expected at least one tool, found none"),
        ("", "expected at least one tool, found none"),
        ("a = 1\ndef f(:\n", ":2: invalid syntax"),
        ("x = 1\nimport no_such_module_here\n", ":2: running the file failed: ModuleNotFoundError"),
        ("\n\n1 / 0\n", ":3: running the file failed: ZeroDivisionError: division by zero"),
        ("def f():\n    raise ValueError\n\nf()\n", ":2: running the file failed: ValueError"),
        ("import sys\nsys.exit(3)\n", ":2: the file ends the program"),
        ("class Odd(BaseException):\n    pass\nraise Odd\n", ":3: running the file failed: "),
        ("def f(*args: int) -> str:\n    'F.'\n", ":1: "),
        ("from wieldy import tool\n\n@tool\ndef f(**more: int) -> str:\n    'F.'\n", "tools.py:"),
        ("\0", "tools.py:"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    assert words in refusal(write(tmp_path, text))


def test_bytes_that_are_no_text_are_reported(tmp_path: Path) -> None:
    file = tmp_path / "tools.py"
    file.write_bytes(b"x = '\xff\xfe'\n")

    assert f"{file}:" in refusal(file)


def test_a_missing_file_a_folder_and_another_kind_of_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.py").mkdir()
    text = write(tmp_path, "hello", "notes.txt")

    assert "cannot be read: No such file" in refusal(tmp_path / "missing.py")
    assert "folder.py: the file cannot be read" in refusal(tmp_path / "folder.py")
    assert "expected a Python file whose name ends in .py" in refusal(text)


def test_a_failing_file_leaves_no_half_module_behind(tmp_path: Path) -> None:
    before = set(sys.modules)

    refusal(write(tmp_path, "1 / 0"))

    assert not {name for name in set(sys.modules) - before if name.startswith("wieldy_tools_file")}


def test_two_tools_of_one_name_are_refused(tmp_path: Path) -> None:
    text = "def f() -> str:\n    'F.'\n"
    files = [write(tmp_path, text, "a.py"), write(tmp_path, text, "b.py")]

    with pytest.raises(UsageError) as caught:
        load_tools(files)

    assert f"found 'f' in {files[0]} and in {files[1]}." in str(caught.value)


def test_two_tools_of_one_name_in_sets_of_one_file_are_refused_with_the_file(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        """
        from wieldy import Toolset, tool

        @tool
        def f() -> str:
            'F.'

        one = Toolset([f])
        same = one.filtered(lambda tool: True)
        """,
    )

    assert f"found 'f' in {file} and in {file}." in refusal(file)


def test_a_tool_of_a_file_has_the_same_origin_in_every_process(tmp_path: Path) -> None:
    first = write(tmp_path, 'def pay(amount: int) -> str:\n    """Pays."""\n    return "paid"\n', "one.py")
    other = write(tmp_path, 'def pay(amount: int) -> str:\n    """Pays otherwise."""\n    return "paid"\n', "two.py")
    origins = {tool.origin for _ in range(2) for tool in load_tools([first]).tools}
    script = f"from wieldy.apps.cli.tools_file import *; print(load_tools([Path({str(first)!r})]).tools[0].origin)"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert origins == {told.strip()}
    assert load_tools([other]).tools[0].origin not in origins
