"""Templates are other people's programs: the command that runs them ends, whatever they do."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from wieldy.apps.cli.formats_detection import Limits, find_format
from wieldy.apps.cli.main import app
from wieldy.core.errors import UsageError, WieldyError

pytest.importorskip("resource", reason="this system has no limits on processor time and memory")

LOOP = "{% for i in range(99999) %}"
CALLS = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content or '' }}{% for c in m.tool_calls or [] %}"
    '\n<tool_call>\n{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}\n</tool_call>'
    "{% endfor %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def written(folder: Path, template: str) -> str:
    path = folder / "t.jinja"
    path.write_text(template, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    "template",
    [
        "{{ 'a' * 10**10 }}",
        "{{ '%1000000000d'|format(1) }}",
        "{{ 'a'.ljust(10**9) }}",
        "{% set n = namespace(s='a' * 99) %}" + LOOP + "{% set n.s = n.s + n.s %}{% endfor %}",
        CALLS + "{% if tools %}{{ 'a' * 10**10 }}{% endif %}",
    ],
)
def test_a_template_that_fills_the_memory_is_stopped(tmp_path: Path, template: str) -> None:
    with pytest.raises(WieldyError, match=r"512 MiB of memory.*not trusted") as caught:
        find_format(written(tmp_path, template))

    assert not isinstance(caught.value, UsageError)


@pytest.mark.parametrize("template", [LOOP * 2 + "{% endfor %}" * 2, "{{ (10**9)**(10**8) }}"])
def test_a_template_that_computes_for_ever_is_stopped(tmp_path: Path, template: str) -> None:
    with pytest.raises(WieldyError, match=r"1 seconds of processor time.*not trusted"):
        find_format(written(tmp_path, template), limits=Limits(cpu_s=1))


def test_a_process_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    with pytest.raises(WieldyError, match=r"it ran for 0\.001 seconds"):
        find_format(written(tmp_path, CALLS), limits=Limits(wall_s=0.001))


def test_the_command_ends_with_1_and_a_sentence(
    tmp_path: Path, wieldy: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    result = wieldy("formats", "detect", written(tmp_path, "{{ 'a' * 10**10 }}"), "--json")

    assert result.returncode == 1
    assert "the chat template was stopped" in " ".join(result.stderr.split())
    assert json.loads(result.stdout)["error"] == "WieldyError"


def test_a_template_may_stand_on_standard_input() -> None:
    result = CliRunner().invoke(app, ["formats", "detect", "-"], input=CALLS)

    assert (result.exit_code, result.stdout) == (0, "hermes\n")


def test_a_folder_cannot_put_a_module_of_its_own_in_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit(7)", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    assert find_format(written(tmp_path, CALLS)) == "hermes"


def test_blocks_nested_more_deeply_than_python_allows_are_no_template(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: too many statically nested blocks"):
        find_format(written(tmp_path, "{% for i in [1] %}" * 30 + "{% endfor %}" * 30))
