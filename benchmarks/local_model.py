"""How well and how fast the embedded model uses tools: everyday requests, and samples of BFCL.

python benchmarks/local_model.py everyday            guided beside the naive loop, on twenty requests
python benchmarks/local_model.py everyday --tuning   the requests on which the strategy was tuned
python benchmarks/local_model.py table                free, constrained and guided on the first of BFCL's simple,
multiple and irrelevance: --sample 60 40 20
python benchmarks/local_model.py bfcl                 whether to call at all: the curve of the guided strategy
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio

from local_models.bfcl import bfcl_data, has_right_name, is_right, request_of
from local_models.free import Naive
from local_models.table import SIZES, models_here, run_table, written
from wieldy import Agent, Limits
from wieldy.connect.models.local import LocalModel
from wieldy.core.calls import AnyCall
from wieldy.core.ports import ModelReply
from wieldy.run.guided import Guided
from wieldy.run.guided.strategy import CALL_MARGIN

HERE = Path(__file__).parent

# Everyday requests


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


async def calls_of(guided: Guided, item: dict[str, Any], choice: str) -> tuple[AnyCall, ...]:
    *_, reply = [event async for event in guided.stream(request_of(item, choice))]
    assert isinstance(reply, ModelReply)
    return reply.message.calls


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
            calls = await calls_of(guided, item, "required")
            named, right = named + has_right_name(calls, item), right + is_right(calls, item)
            if not is_right(calls, item):
                print(f"    {item['id']}: {calls} instead of {item['right'][0]}", flush=True)
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
    parser.add_argument("what", choices=["everyday", "table", "bfcl"], nargs="?", default="everyday")
    parser.add_argument(
        "--model",
        type=Path,
        action="append",
        help="a GGUF file; the table takes several",
    )
    parser.add_argument(
        "--sample", type=int, nargs=3, default=list(SIZES.values()), metavar=tuple(SIZES), help="items in the table"
    )
    parser.add_argument("--way", action="append", default=[], help="one of the ways in the table; may be repeated")
    parser.add_argument("--json", type=Path, help="where the table is written to, with every call")
    parser.add_argument("--tuning", action="store_true", help="the requests on which the strategy was tuned")
    parser.add_argument("--only", choices=["guided", "naive"], help="one of the two ways")
    parser.add_argument("--scale", type=float, default=1.0, help="a part of the BFCL samples")
    options = parser.parse_args()
    if options.what == "table":
        sizes = dict(zip(SIZES, options.sample, strict=True))
        rows = anyio.run(run_table, options.model or models_here(), sizes, options.way)
        if options.json is not None:
            written(rows, options.json)
        return
    model = LocalModel(path=options.model[0] if options.model else None)
    if options.what == "bfcl":
        anyio.run(run_bfcl, model, options.scale)
    else:
        file = HERE / ("everyday_tuning.json" if options.tuning else "everyday_requests.json")
        run_everyday(model, file, options.only)


if __name__ == "__main__":
    main()
