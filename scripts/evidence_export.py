"""Whether what `wieldy export` writes is read by those who train with it as it was written, and what it costs.

    python scripts/evidence_export.py FOLDER [TOKENIZER.json]

FOLDER is made and keeps the files. `datasets` is installed from the package index in its newest release and in 4.0.0,
each into an environment of its own, and reads the files there; so does pyarrow. The trials are real runs of scripted
models, among them tools whose arguments have the same names and other types.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import jinja2

from wieldy import Agent, tool
from wieldy.core.messages import messages_from
from wieldy.evals.cases.results import JOURNAL, Results, Trial
from wieldy.evals.verdicts.verdict import PASS, failed
from wieldy.formats import get
from wieldy.testing import ScriptedModel, call, text

BEGIN, END = "\ue000", "\ue001"
RELEASES = ("datasets", "datasets==4.0.0")
MANY = 10_000

READ = """
import json, sys, datasets
kind, file, expected = sys.argv[1:]
rows = [json.loads(line) for line in open(expected)]
found = datasets.load_dataset(kind, data_files=file, split="train", cache_dir=file + ".cache-" + datasets.__version__)
def told(value):  # older releases give each message the members of all
    if isinstance(value, dict):
        return {name: told(item) for name, item in value.items() if item is not None}
    return [told(item) for item in value] if isinstance(value, list) else value
same = [told(one) == told(other) for one, other in zip(found, rows, strict=True)]
print(json.dumps({"datasets": datasets.__version__, "rows": len(same), "same": sum(same)}))
"""


@tool(effect="read")
def count(value: int) -> int:
    """Count.

    Args:
        value: A number.
    """
    return value


@tool(effect="read")
def name(value: str, more: list[dict[str, Any]]) -> str:
    """Name.

    Args:
        value: A text.
        more: Whatever else there is.
    """
    return value


def study(folder: Path, trials: int) -> None:
    """Trials of two tasks whose calls have arguments of other types under one name."""
    folder.mkdir(parents=True)
    journal = folder / JOURNAL
    runs = [
        Agent(model=ScriptedModel([[made], [text("Done.")]]), tools=[count, name], journal=journal).run_sync("Do it.")
        for made in (
            call("count", {"value": 3}),
            call("name", {"value": "3", "more": [{"x": 1}, {"x": "1", "y": None}]}),
        )
    ]
    with Results(folder) as results:
        for number in range(trials):
            results.add(
                Trial(
                    suite="s",
                    task=f"t{number // 4}",
                    category="c",
                    cluster=f"t{number // 4}",
                    digest="d",
                    configuration="m",
                    trial=number % 4,
                    runs=(runs[number % 2].run_id,),
                    verdict=PASS if number % 4 < 2 else failed("wrong: x"),
                    others={},
                )
            )


def wieldy(*arguments: object) -> tuple[dict[str, Any], float, float]:
    """What it says, its CPU seconds and its largest memory, in MB."""
    command = [sys.executable, "-m", "wieldy.apps.cli.main", *map(str, arguments), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        said = process.stdout.read() if process.stdout is not None else ""
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    return json.loads(said), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def like_the_template(folder: Path, file: Path) -> str:
    """How many conversations TRL's training template for Qwen writes as the format does, and marks as it does.

    Compared is what follows the tools, which the format lists in words of its own; the template marks the line break
    behind the mark that ends a turn as well, which no model writes. Arguments are given to it in the schema's order,
    in which the format writes them.
    """
    subprocess.run(
        [sys.executable, "-m", "pip", "-q", "download", "--no-deps", "-d", folder, "trl==1.16.0"], check=True
    )
    with zipfile.ZipFile(folder / "trl-1.16.0-py3-none-any.whl") as wheel:
        source = wheel.read("trl/chat_templates/qwen3_instruct_2507_training.jinja").decode()
    for word, mark in (("generation", BEGIN), ("endgeneration", END)):
        source = re.sub(rf"\{{%(-?) {word} (-?)%\}}", rf'{{{{\1 "{mark}" \2}}}}', source)
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = partial(json.dumps, ensure_ascii=False)
    template = environment.from_string(source)
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    same = 0
    for row in rows:
        tools = json.loads(row["tools"])
        for message in row["messages"]:
            for made in message.get("tool_calls", ()):
                given = made["function"]["arguments"]
                made["function"]["arguments"] = {each: given[each] for each in ("value", "more") if each in given}
        theirs = template.render(messages=row["messages"], tools=tools, add_generation_prompt=False)
        text, spans = get("hermes").render_with_spans(messages_from(row["messages"]), tools)
        ours = list(text)
        for span in spans:
            ours[span.start] = BEGIN + ours[span.start]
            ours[span.end] += END
        same += _behind_tools("".join(ours)) == _behind_tools(theirs)
    return f"{same} of {len(rows)} conversations are written and marked the same"


def _behind_tools(text: str) -> str:
    return text[text.index("<|im_start|>", 1) :]


def environment(folder: Path, release: str) -> Path:
    """A Python with this release of `datasets`."""
    python = folder / f"venv-{release.replace('==', '-')}" / "bin" / "python"
    if not python.exists():
        venv.create(python.parent.parent, with_pip=True)
        subprocess.run([python, "-m", "pip", "-q", "install", release], check=True)
    return python


def read(python: Path, kind: str, file: Path, expected: Path) -> str:
    """What became of reading the file: how many rows are as they were written."""
    ran = subprocess.run([python, "-c", READ, kind, file, expected], capture_output=True, text=True, check=False)
    if ran.returncode:
        return f"not read: {ran.stderr.strip().splitlines()[-1][:160]}"
    told = json.loads(ran.stdout.strip().splitlines()[-1])
    return f"{told['same']} of {told['rows']} rows the same (datasets {told['datasets']})"


def main() -> None:
    folder = Path(sys.argv[1])
    small, many = folder / "small", folder / "many"
    study(small, 40)
    exports = [(view, form) for view in ("rows", "sft", "trl", "prime-rl", "grpo") for form in ("object", "text")]
    files = {(view, form): folder / f"{view}-{form}.jsonl" for view, form in exports}
    for (view, form), file in files.items():
        wieldy("export", small, "--to", view, "--arguments", form, "--out", file)
    wieldy("export", small, "--to", "verl", "--out", folder / "verl.parquet")
    if len(sys.argv) > 2:
        files["trl tokens", "-"] = folder / "trl-tokens.jsonl"
        tokens = ("--format", "hermes", "--tokenizer", sys.argv[2])
        wieldy("export", small, "--to", "trl", *tokens, "--out", files["trl tokens", "-"])
    pythons = [environment(folder, release) for release in RELEASES]
    print("| file | arguments | newest | 4.0.0 |\n|---|---|---|---|")
    for (view, form), file in files.items():
        print(f"| {view} | {form} | {' | '.join(read(python, 'json', file, file) for python in pythons)} |", flush=True)
    expected = folder / "prime-rl-text.jsonl"
    found = [read(python, "parquet", folder / "verl.parquet", expected) for python in pythons]
    print(f"| verl (parquet) | text | {' | '.join(found)} |\n")
    print(f"{like_the_template(folder, files['trl', 'object'])}\n")
    study(many, MANY)
    for trials, source in ((40, small), (MANY, many)):
        for view in ("rows", "grpo"):
            file = folder / f"{trials}-{view}.jsonl"
            told, spent, peak = wieldy("export", source, "--to", view, "--out", file)
            size_mb = file.stat().st_size / 1e6
            print(f"| {trials:,} as {view} | {told['rows']:,} | {size_mb:.2f} MB | {spent:.1f} s | {peak:.0f} MB |")


if __name__ == "__main__":
    main()
