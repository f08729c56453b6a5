"""How well and how fast the embedded model uses tools: everyday requests, and samples of BFCL.

    python benchmarks/local_model.py everyday            guided beside the naive loop, on twenty requests
    python benchmarks/local_model.py everyday --tuning   the requests on which the strategy was tuned
    python benchmarks/local_model.py bfcl                 the first 60 simple, 40 multiple, 40 irrelevance

BFCL's data comes out of the `bfcl_eval` wheel, fetched by pip and read as data. Its rules for comparing values (case,
spaces and punctuation of strings do not matter, several values are right) are written anew here.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio

from wieldy import Agent, Limits, Message, ToolCall, ToolDefinition
from wieldy.connect.models.local import LocalModel
from wieldy.core.calls import ToolChoice
from wieldy.core.ports import ModelEvent, ModelReply, ModelRequest
from wieldy.run.guided import Guided
from wieldy.run.guided.strategy import CALL_MARGIN

HERE = Path(__file__).parent
BFCL = "bfcl_eval==2026.3.23"

# Everyday requests


class Naive:
    """The usual loop around a small model: its own template, free text, and a lenient look for JSON that is a call."""

    def __init__(self, model: LocalModel) -> None:
        self._model = model
        self.name = f"naive {model.name}"

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """The model's reply, with calls made of what looks like one."""
        async for event in self._model.stream(request):
            if isinstance(event, ModelReply) and not event.message.calls and request.tool_choice.mode != "none":
                calls = [
                    ToolCall(id=f"n{index}", name=name, arguments=arguments)
                    for index, (name, arguments) in enumerate(json_calls(event.message.text))
                ]
                message = Message.assistant("" if calls else event.message.text, calls)
                yield ModelReply(message=message, usage=event.usage, finish=event.finish)
            else:
                yield event


def json_calls(text: str) -> Iterable[tuple[str, dict[str, Any]]]:
    """Every JSON object in a text that has a name and arguments."""
    decoder, position = json.JSONDecoder(), text.find("{")
    while position >= 0:
        try:
            found, end = decoder.raw_decode(text, position)
        except ValueError:
            end = position + 1
        else:
            if isinstance(found, dict) and isinstance(found.get("name"), str):
                arguments = found.get("arguments", found.get("parameters", {}))
                if isinstance(arguments, dict):
                    yield found["name"], arguments
        position = text.find("{", end)


def everyday_tools() -> ModuleType:
    path = HERE.parent / "examples" / "everyday" / "tools.py"
    spec = importlib.util.spec_from_file_location("everyday_tools", path)
    assert spec is not None and spec.loader is not None  # noqa: PT018
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def faults(request: dict[str, Any], calls: list[tuple[str, str, bool]], answer: str) -> list[str]:
    """What is wrong with a run, judged strictly; see the head of the requests file."""
    left, found = list(calls), []
    for name, pattern in request["needs"]:
        right = next((c for c in left if c[0] == name and not c[2] and re.search(pattern, c[1], re.I)), None)
        if right is None:
            found.append(f"no {name} that gives {pattern}")
        else:
            left.remove(right)
    allowed = request.get("may", [])
    found += [
        f"needless {name} -> {content[:40]}"
        for name, content, _ in left
        if not any(name == tool and re.search(pattern, content, re.I) for tool, pattern in allowed)
    ]
    return found + [
        f"answer without {pattern}" for pattern in request["answer"] if not re.search(pattern, answer, re.I)
    ]


def run_everyday(model: LocalModel, file: Path, only: str | None) -> None:
    module, requests = everyday_tools(), json.loads(file.read_text(encoding="utf-8"))
    tools = [module.get_weather, module.calculate, module.search_notes]
    ways: list[tuple[str, Callable[[], Agent]]] = [
        ("guided", lambda: Agent(model, tools, strategy="guided")),
        ("naive", lambda: Agent(Naive(model), tools, strategy="native", limits=Limits(turns=5))),
    ]
    summary: list[str] = []
    for way, agent in (pair for pair in ways if only in (None, pair[0])):
        agent().run_sync("Hello!")  # reads what is the same for every request
        for kind in ("one_step", "two_step"):
            right, seconds = 0, []
            for request in requests[kind]:
                begun, used = time.perf_counter(), time.process_time()
                result = agent().run_sync(request["prompt"])
                seconds.append(time.perf_counter() - begun)
                cpu_s = time.process_time() - used
                names = {call.id: call.name or "" for message in result.messages for call in message.calls}
                results = [message.result for message in result.messages if message.result]
                calls = [(names[r.tool_call_id], r.content, r.is_error) for r in results]
                wrong = faults(request, calls, result.text)
                right += not wrong
                made = [
                    f"{c.name}({json.dumps(getattr(c, 'arguments', None))})" for m in result.messages for c in m.calls
                ]
                print(f"{way} {'right' if not wrong else 'WRONG'} {cpu_s:5.1f} s CPU  {request['prompt']}")
                print(f"    {'; '.join(made)}\n    {result.text!r}" + (f"\n    {wrong}" if wrong else ""), flush=True)
            summary.append(
                f"{way:7s} {kind}: {right} of {len(requests[kind])} right, "
                f"median {statistics.median(seconds):.1f} s, longest {max(seconds):.1f} s an answer"
            )
    print("\n".join(["", *summary]))


# BFCL


def bfcl_data() -> dict[str, list[dict[str, Any]]]:
    """Items by category, each with its right answers where there are any."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, BFCL]
        subprocess.run(command, check=True)
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as wheel:

            def lines(name: str) -> list[dict[str, Any]]:
                return [json.loads(line) for line in wheel.read(f"bfcl_eval/data/{name}").decode().splitlines()]

            data = {}
            for category, file in (("simple", "simple_python"), ("multiple", "multiple")):
                answers = {item["id"]: item["ground_truth"] for item in lines(f"possible_answer/BFCL_v4_{file}.json")}
                items = lines(f"BFCL_v4_{file}.json")
                data[category] = [{**item, "right": answers[item["id"]]} for item in items]
            data["irrelevance"] = lines("BFCL_v4_irrelevance.json")
    return data


TYPES = {"dict": "object", "float": "number", "tuple": "array", "any": None}


def json_schema_of(part: Any) -> Any:
    """BFCL's parameter descriptions as JSON Schema."""
    if isinstance(part, list):
        return [json_schema_of(one) for one in part]
    if not isinstance(part, dict):
        return part
    schema = {key: json_schema_of(value) for key, value in part.items()}
    if isinstance(part.get("type"), str):
        kind = TYPES.get(part["type"], part["type"])
        schema = {key: value for key, value in schema.items() if key != "type"} | ({"type": kind} if kind else {})
    if schema.get("type") == "object" and "properties" in schema:
        schema["additionalProperties"] = False
    return schema


def definition_of(function: dict[str, Any]) -> ToolDefinition:
    return ToolDefinition(
        name=function["name"].replace(".", "_"),
        description=function["description"],
        input_schema=json_schema_of(function["parameters"]),
    )


def is_value(found: Any, right: Any) -> bool:
    if isinstance(found, str) and isinstance(right, str):
        plain = [re.sub(r"[ ,./\-_*^]", "", text).casefold().replace("'", '"') for text in (found, right)]
        return plain[0] == plain[1]
    if isinstance(found, bool) or isinstance(right, bool):
        return found is right
    if isinstance(found, list) and isinstance(right, list):
        return len(found) == len(right) and all(map(is_value, found, right))
    if isinstance(found, dict) and isinstance(right, dict):
        return fits(found, right)
    return type(found) in (int, float) and type(right) in (int, float) and found == right


def fits(arguments: dict[str, Any], right: dict[str, list[Any]]) -> bool:
    """Whether every argument has one of its right values; "" among them means that it may be left out."""
    if set(arguments) - set(right):
        return False
    return all(
        any(is_value(arguments[name], value) for value in values) if name in arguments else "" in values
        for name, values in right.items()
    )


def request_of(item: dict[str, Any], choice: str) -> ModelRequest:
    return ModelRequest(
        messages=[Message.user(message["content"]) for message in item["question"][0]],
        tools=[definition_of(function) for function in item["function"]],
        tool_choice=ToolChoice(mode=choice),  # type: ignore[arg-type]
    )


async def call_of(guided: Guided, item: dict[str, Any], choice: str) -> ToolCall | None:
    calls: tuple[Any, ...] = ()
    async for event in guided.stream(request_of(item, choice)):
        if isinstance(event, ModelReply):
            calls = event.message.calls
    return calls[0] if calls else None


async def run_bfcl(model: LocalModel, scale: float) -> None:
    data, guided = bfcl_data(), Guided(model)
    sizes = {kind: round(scale * size) for kind, size in {"simple": 60, "multiple": 40, "irrelevance": 40}.items()}
    test = {kind: data[kind][:size] for kind, size in sizes.items()}
    fit = {kind: data[kind][size : 2 * size] for kind, size in sizes.items()}
    print("with the decision whether to call switched off")
    for kind in ("simple", "multiple"):
        named = right = 0
        begun = time.process_time()
        for item in test[kind]:
            call = await call_of(guided, item, "required")
            ((name, arguments),) = item["right"][0].items()
            is_named = call is not None and call.name == name.replace(".", "_")
            is_right = call is not None and is_named and fits(call.arguments, arguments)
            named, right = named + is_named, right + is_right
            if not is_right:
                print(
                    f"    {item['id']}: {call and (call.name, call.arguments)} instead of {item['right'][0]}",
                    flush=True,
                )
        count = len(test[kind])
        cpu_s = (time.process_time() - begun) / count
        print(f"{kind}: name right {named / count:.3f}, all right {right / count:.3f} of {count}", end="")
        print(f", {cpu_s:.1f} s CPU a call", flush=True)
    print("with the decision on: how far the likeliest tool leads the answer, in nats")
    leads = {
        split: {kind: [await guided.lead(request_of(item, "auto")) for item in items] for kind, items in part.items()}
        for split, part in (("fit", fit), ("test", test))
    }
    print_curve(leads)


def print_curve(leads: dict[str, dict[str, list[float]]]) -> None:
    def shares(split: str, threshold: float) -> tuple[float, float]:
        wanted = leads[split]["simple"] + leads[split]["multiple"]
        unwanted = leads[split]["irrelevance"]
        return (
            sum(lead >= threshold for lead in wanted) / len(wanted),
            sum(lead < threshold for lead in unwanted) / len(unwanted),
        )

    print("threshold fitted on one half   kept / declined there   kept / declined on the other half")
    for declined in (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95):
        unwanted = sorted(leads["fit"]["irrelevance"])
        threshold = unwanted[min(len(unwanted) - 1, round(declined * len(unwanted)))]
        there, here = shares("fit", threshold), shares("test", threshold)
        print(f"{threshold:10.2f}   {there[0]:.2f} / {there[1]:.2f}   {here[0]:.2f} / {here[1]:.2f}")
    wanted = leads["test"]["simple"] + leads["test"]["multiple"]
    pairs = [(a > b) + (a == b) / 2 for a in wanted for b in leads["test"]["irrelevance"]]
    print(f"area under the curve {sum(pairs) / len(pairs):.3f}")
    kept, declined = shares("test", -CALL_MARGIN)
    print(f"with the default margin: kept {kept:.2f}, declined {declined:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["everyday", "bfcl"], nargs="?", default="everyday")
    parser.add_argument("--model", type=Path, help="a GGUF file; the embedded default if left out")
    parser.add_argument("--tuning", action="store_true", help="the requests on which the strategy was tuned")
    parser.add_argument("--only", choices=["guided", "naive"], help="one of the two ways")
    parser.add_argument("--scale", type=float, default=1.0, help="a part of the BFCL samples")
    options = parser.parse_args()
    model = LocalModel(path=options.model)
    if options.what == "bfcl":
        anyio.run(run_bfcl, model, options.scale)
    else:
        file = HERE / ("everyday_tuning.json" if options.tuning else "everyday_requests.json")
        run_everyday(model, file, options.only)


if __name__ == "__main__":
    main()
