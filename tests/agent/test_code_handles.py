"""Code that works with handles: it passes on what strangers wrote and learns nothing of it, unless it reveals it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laundering_runs import World, acts

from wieldy import Agent, CodeRules, tool
from wieldy.core.errors import UsageError
from wieldy.core.events import RunResult
from wieldy.core.influence import Influence
from wieldy.core.json import JsonValue
from wieldy.run.actions.code.handles import HandleInterpreter
from wieldy.run.actions.code.labels import LabelledCall, LabelledFailure, LabelledReply
from wieldy.run.policy import Allow, Decision, Proposal
from wieldy.sandbox import Failure, GuestCall, Outcome, Reply

pytestmark = pytest.mark.usefixtures("sandboxed")


@tool(effect="idempotent")
def keep(data: Any) -> Any:
    """Keep anything."""
    return data


class Watched:
    """An agent that works with handles, and what its policy was shown."""

    def __init__(self, *program: str) -> None:
        self.world = World()
        self.world.tools.append(keep)
        self.proposals: list[Proposal] = []
        self.code = program[0]
        self.agent = self.world.agent("handles", program, policy=self._decide)

    def _decide(self, proposal: Proposal) -> Decision:
        self.proposals.append(proposal)
        return Allow()

    def run(self) -> RunResult:
        return self.agent.run_sync("Go")

    def influence(self, name: str) -> list[Influence]:
        return [each.influence for each in self.proposals if each.call.name == name]


def told(result: RunResult) -> list[str]:
    return [message.text for message in result.messages if message.role == "tool"]


def trusts(result: RunResult) -> list[tuple[str, tuple[str, ...]]]:
    results = [message.result for message in result.messages if message.result is not None]
    return [(each.trust, each.tainted_by) for each in results]


def test_a_handle_or_a_part_of_one_stands_anywhere_in_arguments() -> None:
    code = (
        "p = await fetch('u')\n"
        "await send('bob', p.title)\n"
        "await keep({'a': [1, p['lines'][0]], 'b': p.n, 'c': [p['lines'][-1]]})\n"
        "await keep(p)"
    )
    watched = Watched(code)
    watched.run()
    assert watched.world.sent == [("bob", "Hi")]
    assert watched.influence("send") == [Influence(arguments={"body": ("fetch",)})]
    values = [each.call.arguments for each in watched.proposals if each.call.name == "keep"]
    assert values[0] == {"data": {"a": [1, "eve"], "b": 3, "c": ["b"]}}
    assert values[1]["data"]["title"] == "Hi"  # type: ignore[index, call-overload]
    web = ("fetch",)
    parts = Influence(arguments={"data.a.1": web, "data.b": web, "data.c.0": web})
    assert watched.influence("keep") == [parts, Influence(arguments={"data": web})]


def test_what_a_call_brings_that_was_given_a_handle_is_behind_one() -> None:
    watched = Watched("a = await keep((await fetch('u')).title)\nawait send('bob', a)\na + '!'")
    content = told(watched.run())
    assert watched.world.sent == [("bob", "Hi")]
    assert watched.influence("send") == [Influence(arguments={"body": ("fetch",)})]
    assert "TypeError: a handle cannot be looked into" in content[0]


def test_reveal_gives_the_value_and_from_then_on_all_is_influenced() -> None:
    code = (
        "p = await fetch('u')\n"
        "await keep(1)\n"
        "t = await reveal([p.title, {'n': p.n}])\n"
        "await keep(2)\n"
        "t == ['Hi', {'n': 3}]"
    )
    watched = Watched(code, "await keep(3)")
    result = watched.run()
    assert "value: true" in told(result)[0]
    everywhere = Influence.everywhere(["fetch"])
    assert watched.influence("keep") == [Influence(), everywhere, everywhere]
    assert [each.call.name for each in watched.proposals] == ["fetch", "keep", "reveal", "keep", "keep"]
    assert trusts(result) == [("untrusted", ("fetch",)), ("untrusted", ("fetch",))]


def test_what_code_returns_is_told_as_strangers_words_only_where_it_is() -> None:
    result = Watched("p = await fetch('u')\nlen(await contacts())", "{'a': [p.title]}").run()
    assert trusts(result) == [("trusted", ()), ("untrusted", ("fetch",))]
    assert told(result)[0] == "value: 2"
    assert 'value: {"a":["Hi"]}' in told(result)[1]


@pytest.mark.parametrize("made_up", ["['h9']", "[]", "7", "[1, 2]", "[['h1']]"])
def test_a_handle_that_code_made_up_is_an_argument_that_does_not_fit(made_up: str) -> None:
    code = (
        f"p = await fetch('u')\ntry:\n    await keep([type(p)({made_up})])\n"
        "except ToolError as e:\n    found = [e.kind, str(e)]\nfound"
    )
    [content] = told(Watched(code).run())
    assert 'value: ["arguments","The arguments of `keep` do not fit: there is no such handle' in content


def test_data_that_looks_like_a_handle_is_data() -> None:
    watched = Watched(
        "p = await fetch('u')\nq = await keep({'$wieldy_handle': ['h1']})\n"
        "r = await reveal(await keep([{'$wieldy_handle': ['h1', 'title']}, p.n]))\nawait keep(r)\n"
        "{'$wieldy_handle': ['h1']}"
    )
    [content] = told(watched.run())
    given = [each.call.arguments["data"] for each in watched.proposals if each.call.name == "keep"]
    assert given == [
        {"$wieldy_handle": ["h1"]},
        [{"$wieldy_handle": ["h1", "title"]}, 3],
        [{"$wieldy_handle": ["h1", "title"]}, 3],
    ]
    assert 'value: {"$wieldy_handle":["h1"]}' in content


def test_the_arguments_as_a_whole_are_no_handle() -> None:
    code = (
        "p = await fetch('u')\ntry:\n    await call('keep', p._wieldy_json())\n"
        "except ToolError as e:\n    found = e.kind\nfound"
    )
    assert told(Watched(code).run()) == ['value: "arguments"']


def test_few_letters_do_not_become_many_bytes() -> None:
    @tool(effect="read", trust="untrusted")
    def much() -> str:
        """A lot."""
        return "x" * 1_000_000

    watched = Watched("p = await much()\nq = await keep([p] * 1000)\nr = await keep([p] * 10)\nNone")
    watched.world.tools.append(much)
    watched.agent = watched.world.agent("handles", [watched.code])
    [content] = told(watched.run())
    assert content.count("come to more than 16000000 bytes") == 1


def test_a_handle_that_is_written_by_hand_is_as_good_as_the_one_that_was_given() -> None:
    watched = Watched("p = await fetch('u')\nawait keep(type(p)(['h1', 'title']))")
    watched.run()
    assert watched.influence("keep") == [Influence(arguments={"data": ("fetch",)})]


LOOKING = [
    "str(p)", "f'{p}'", "len(p)", "list(p)", "p == 'x'", "p != 'x'", "p < p", "bool(p)", "not p", "p and 1",
    "'a' in p", "p + 'x'", "'x' + p", "p % 2", "int(p)", "float(p)", "json.dumps(p)", "sorted(p)", "{p: 1}", "p()",
    "p.title.upper()", "'x'.join([p.title])", "[*p]", "dict(**p)", "'abc'[p.n]", "p.title = 1", "p['a'] = 1",
    "next(p)", "round(p)", "p[1:]", "p[p]", "print(p)",
]  # fmt: skip


def test_looking_into_a_handle_is_an_error_that_says_what_to_do() -> None:
    tries = "\n".join(
        f"try:\n    {each}\n    found.append({each!r})\nexcept TypeError as e:\n    said.append(str(e))"
        for each in LOOKING
    )
    code = f"p = await fetch('u')\nfound, said = [], []\n{tries}\n"
    [content] = told(Watched(f"{code}[found, sum('await reveal(handle)' in each for each in said)]").run())
    found, naming = json.loads(content.removeprefix("value: "))
    assert found == []
    # A few are said by Python itself, to which a handle is no mapping, or no place in a list.
    assert naming >= len(LOOKING) - 5


def test_a_failure_is_behind_the_handle_and_raised_by_reveal() -> None:
    code = (
        "p = await fetch('fail')\n"
        "q = await fetch('crash')\n"
        "r = await keep(p)\n"
        "kinds = []\n"
        "for each in (p, q, r, p.part):\n"
        "    try:\n"
        "        await reveal(each)\n"
        "    except ToolError as error:\n"
        "        kinds.append([error.kind, str(error)[:3]])\n"
        "kinds"
    )
    [content] = told(Watched(code).run())
    assert 'value: [["tool","eve"],["crashed","`fe"],["arguments","The"],["tool","eve"]]' in content


def test_the_model_is_told_of_failures_that_code_was_not() -> None:
    result = Watched("p = await fetch('fail')\nawait keep((await fetch('u')).nothing)\n1").run()
    [content] = told(result)
    assert "These calls failed:\n- fetch(" in content
    assert "what is behind a handle has no part 'nothing'" in content
    assert trusts(result) == [("untrusted", ("fetch",))]


def test_a_failure_that_no_stranger_had_a_part_in_is_raised() -> None:
    code = "p = await fetch('u')\ntry:\n    keep.sync(type(p)(['x']))\nexcept ToolError as e:\n    found = e.kind"
    result = Watched(code).run()
    assert told(result) == ['value: "arguments"']
    assert trusts(result) == [("trusted", ())]


def test_no_tool_may_be_called_as_reveal_is() -> None:
    @tool(effect="read")
    def reveal(value: str) -> str:
        """Another one."""
        return value

    with pytest.raises(UsageError, match="reveal"):
        Agent(acts("1"), [reveal], actions="code", code=CodeRules(taint="handles")).run_sync("Go")


# The law: what the sandbox is told does not depend on what is behind handles.


class Inner:
    """Code that makes these calls, whatever it is told, and remembers what that was."""

    def __init__(self, batches: Sequence[Sequence[GuestCall]], end: JsonValue) -> None:
        self._left = [*batches]
        self._end = end
        self.mark = "$wieldy_handle"
        self.told: list[Reply | Failure] = []

    async def run(self, code: str, *, prelude: str, seed: int, clock: float, fresh: bool) -> Outcome:
        return self._next()

    async def answer(self, answers: Sequence[Reply | Failure]) -> Outcome:
        self.told += answers
        return self._next()

    def _next(self) -> Outcome:
        if not self._left:
            return Outcome(status="done", value=self._end)
        return Outcome(status="paused", waiting=tuple(map(self._spelled, self._left.pop(0))))

    def _spelled(self, call: GuestCall) -> GuestCall:
        text = json.dumps(call.arguments).replace(HANDLE, self.mark)
        return GuestCall(seq=call.seq, name=call.name, arguments=json.loads(text))


HANDLE = "<a handle>"


handles = st.builds(lambda number, path: {HANDLE: [f"h{number}", *path]}, st.integers(1, 4),
    st.lists(st.sampled_from(["a", "b", 0, -1]), max_size=2))  # fmt: skip
arguments = st.recursive(
    st.integers(0, 3) | st.sampled_from(["x", "y"]) | handles,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2),
    max_leaves=4,
)
calls = st.builds(
    lambda name, value: GuestCall(seq=1, name=name, arguments={"v": value}), st.sampled_from(["in", "out"]), arguments
)
values = st.recursive(
    st.none() | st.integers(0, 3) | st.sampled_from(["x", "y"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2),
    max_leaves=4,
)
answers = values | st.builds(LabelledFailure, kind=st.sampled_from(["tool", "timeout"]), message=st.just("no"))


@given(st.lists(st.lists(calls, min_size=1, max_size=3), max_size=3), st.data())
def test_what_code_is_told_does_not_depend_on_what_is_behind_handles(
    batches: list[list[GuestCall]], data: st.DataObject
) -> None:
    async def go(secrets: list[Any]) -> tuple[list[Reply | Failure], list[str | None]]:
        inner = Inner(batches, None)
        interpreter = HandleInterpreter(inner)
        inner.mark = interpreter.mark
        outcome = await interpreter.run("", prelude="", seed=0, clock=0.0, fresh=True)
        shapes: list[str | None] = []
        left = iter(secrets)
        while outcome.waiting:
            made: list[Reply | Failure] = []
            for call in outcome.waiting:
                assert isinstance(call, LabelledCall)
                is_strange = call.name == "in" or bool(call.influence.sources)
                answer = next(left)
                sources = ("web",) if call.name == "in" else ()
                if not is_strange:  # what is ours is the same in both runs
                    made.append(Failure(kind="arguments", message=call.error) if call.error else Reply(value=7))
                elif isinstance(answer, LabelledFailure):
                    made.append(LabelledFailure(kind=answer.kind, message=answer.message, tainted_by=sources))
                else:
                    made.append(LabelledReply(value=answer, tainted_by=sources))
                shapes.append(call.name)
            outcome = await interpreter.answer(made)
        return inner.told, shapes

    count = sum(map(len, batches))
    one, other = (data.draw(st.lists(answers, min_size=count, max_size=count)) for _ in range(2))
    assert anyio.run(go, one) == anyio.run(go, other)


keys = st.sampled_from(["$wieldy_handle", "$wieldy_handle_", "$MARK", "handle", "value", "$", "a"]) | st.text(
    max_size=3
)
any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.sampled_from(["h1", "h2"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=2),
    max_leaves=8,
)


@given(st.dictionaries(keys, any_json, max_size=2), any_json)
def test_any_json_goes_through_unchanged(given: dict[str, Any], end: Any) -> None:
    async def go() -> None:
        interpreter = HandleInterpreter(
            Inner([[GuestCall(seq=1, name="in", arguments={})], [GuestCall(seq=2, name="keep", arguments=given)]], end)
        )
        await interpreter.run("", prelude="", seed=0, clock=0.0, fresh=True)
        outcome = await interpreter.answer([LabelledReply(value="secret", tainted_by=("web",))])
        [call] = outcome.waiting
        assert isinstance(call, LabelledCall)
        assert (call.arguments, call.influence, call.error) == (given, Influence(), None)
        outcome = await interpreter.answer([Reply(value=None)])
        assert outcome.value == end

    anyio.run(go)
