"""The benchmark's services: by checksum, anew each time, called by name with values, and never by text."""

from __future__ import annotations

import subprocess
import sys
from decimal import getcontext
from pathlib import Path

import mpmath
import pytest
from conversation_examples import CLASSES, TICKETS, conversation, read, row, service_code, written_package
from hypothesis import given
from hypothesis import strategies as st

from wieldy import UsageError
from wieldy.evals.bfcl.conversations.services import ServiceCode
from wieldy.evals.bfcl.conversations.worlds import MOST_BITS, World
from wieldy.evals.bfcl.conversations.written import read_call, write_call
from wieldy.evals.bfcl.decoding import DecodingError


@pytest.fixture
def code(tmp_path: Path) -> ServiceCode:
    return service_code(tmp_path)


@pytest.fixture
def world(code: ServiceCode) -> World:
    return World(code.load(("TicketAPI", "MathAPI")), {})


def test_what_is_not_the_pinned_source_is_not_run(tmp_path: Path, code: ServiceCode) -> None:
    (file,) = tmp_path.rglob("ticket_api.py")
    file.write_text("raise SystemExit('this must not be run')")
    with pytest.raises(UsageError, match="expected the simulator of the pinned version"):
        code.load(("TicketAPI",))
    file.unlink()
    with pytest.raises(UsageError, match="need the whole package or its wheel"):
        code.load(("TicketAPI",))
    with pytest.raises(UsageError, match="Expected a service of"):
        code.load(("BankAPI",))


def test_a_package_that_is_missing_is_named(code: ServiceCode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mpmath", None)
    with pytest.raises(UsageError, match=r"pip install 'wieldy\[bfcl\]'.*--categories single_turn"):
        code.load(("MathAPI",))
    assert set(code.load(("TicketAPI",))) == {"TicketAPI"}


def test_the_services_have_no_way_out_of_python_by_mistake(tmp_path: Path, world: World) -> None:
    assert world.call("reach").text == "Error during execution: name 'open' is not defined"
    reaching = {"ticket_api": "import os\nclass TicketAPI: pass"}
    with pytest.raises(ImportError, match="no module 'os'"):
        service_code(tmp_path / "other", reaching).load(("TicketAPI",))


def test_nothing_of_one_world_is_in_another(code: ServiceCode) -> None:
    scenario = {"TicketAPI": {"tickets": {"old": {"urgency": 1, "tags": []}}}}
    for _ in range(3):
        world = World(code.load(("TicketAPI",)), scenario)
        assert world.call("add", (), {"name": "a"}).text == '{"added": "a", "count": 2}'
        world.call("tag", (), {"name": "a", "tag": "x"})  # into the default of a parameter, which a module keeps
        world.call("tag", (), {"name": "old", "tag": "y"})
        assert world.call("show", (), {"name": "a"}).text == '{"ticket": {"urgency": 1, "tags": ["x"]}, "pad": ""}'
    assert scenario == {"TicketAPI": {"tickets": {"old": {"urgency": 1, "tags": []}}}}


def test_arguments_are_not_shared_with_what_keeps_them(world: World) -> None:
    tags = ["x"]
    world.call("add", (), {"name": "a", "tags": tags})
    world.call("tag", (), {"name": "a", "tag": "y"})
    assert tags == ["x"]


@pytest.mark.parametrize(
    ("name", "named", "text"),
    [
        ("no_such", {}, "name 'no_such' is not defined"),
        ("_load_scenario", {"scenario": {}}, "name '_load_scenario' is not defined"),
        ("__class__", {}, "name '__class__' is not defined"),
        ("tickets", {}, "name 'tickets' is not defined"),
        ("show", {"name": "a"}, "'a'"),
        ("show", {"nom": "a"}, "TicketAPI.show() got an unexpected keyword argument 'nom'"),
        ("show", {}, "TicketAPI.show() missing 1 required positional argument: 'name'"),
    ],
)
def test_what_cannot_be_carried_out_says_so_as_python_does(
    world: World, name: str, named: dict[str, object], text: str
) -> None:
    assert world.call(name, (), named) == (f"Error during execution: {text}", True)


def test_a_service_leaves_the_precision_of_the_process_alone(world: World) -> None:
    decimal, other = getcontext().prec, mpmath.mp.dps
    assert world.call("square_root", (), {"number": 4, "precision": 3}).text == '{"result": 2.0}'
    assert world.call("logarithm", (8, 2, 5)).text == "{'result': mpf('3.0')}"
    assert (getcontext().prec, mpmath.mp.dps) == (decimal, other)


@given(
    base=st.one_of(st.integers(-300, 300), st.integers(), st.floats(allow_nan=False)),
    exponent=st.one_of(st.integers(-300, 300), st.integers(), st.floats(allow_nan=False)),
)
def test_a_power_is_what_it_is_in_python_or_refused_for_its_size(base: float, exponent: float) -> None:
    powers = World({"MathAPI": PlainMath}, {})
    outcome = powers.call("power", (base, exponent))
    whole = isinstance(base, int) and isinstance(exponent, int)
    if whole and abs(base) > 1 and exponent * abs(int(base)).bit_length() > MOST_BITS:
        assert outcome.text == "Error during execution: the result would be too large"
        return
    try:
        expected = str(base**exponent)
    except (ArithmeticError, ValueError) as error:
        expected = f"Error during execution: {error}"
    assert outcome.text == expected


class PlainMath:
    def power(self, base: float, exponent: float) -> str:
        return str(base**exponent)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("logarithm", (2, 10, 10**10)),
        ("logarithm", (2, 10, float("inf"))),
        ("square_root", (2, 10**18)),
        ("round_number", (5, -(10**10))),
    ],
)
def test_what_would_take_for_ever_is_refused(world: World, name: str, arguments: tuple[object, ...]) -> None:
    assert world.call(name, arguments).text == "Error during execution: the result would be too large"


# Calls as text

_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3)),
    max_leaves=6,
)
_IDENTIFIERS = st.from_regex(r"[a-z][a-z_0-9]{0,8}", fullmatch=True).map(lambda name: f"f_{name}")


@given(name=_IDENTIFIERS, arguments=st.dictionaries(_IDENTIFIERS, _VALUES, max_size=4))
def test_a_call_that_is_written_is_read_back(name: str, arguments: dict[str, object]) -> None:
    assert read_call(write_call(name, arguments)) == (name, (), arguments)


def test_arguments_may_stand_without_their_names(world: World) -> None:
    call = read_call("add('a', 2, tags=['x'])")
    assert world.arguments(*call) == {"name": "a", "urgency": 2, "tags": ["x"]}


EXPLOITS = (
    "__import__('os').system('touch broken-out')",
    "go(desk=__import__('os').getcwd())",
    "go(desk=open('broken-out', 'w').name)",
    "go(desk=exec('import os'))",
    "go(desk=(lambda: open('broken-out', 'w'))())",
    "go(desk=[x for x in open('/etc/passwd')][0])",
    "go(desk=f\"{open('broken-out', 'w')}\")",
    "go(**{'desk': open('broken-out', 'w').name})",
    "go(desk='a'.__class__.__base__.__subclasses__())",
    "go(desk=9**9**9)",
    "go(desk='a' * 10**12)",
    "(go)(desk=print('broken out'))",
    "go.__globals__['os'].system('touch broken-out')",
    "go(desk=(x := open('broken-out', 'w')))",
    "go(desk=open)",
    "go(*open('broken-out', 'w'))",
    "eval(open('broken-out', 'w'))",
    "go(desk='x') if open('broken-out', 'w') else 1",
    "go(desk={open('broken-out', 'w'): 1})",
    "go(desk=" + "(" * 5000 + ")" * 5000 + ")",
)

_WATCHED = f"""
import sys
from wieldy.evals.bfcl.conversations.written import read_call
from wieldy.evals.bfcl.decoding import DecodingError

told = []
sys.addaudithook(lambda event, arguments: told.append(event) if watched else None)
for text in {EXPLOITS!r}:
    watched = True
    try:
        read_call(text)
        print("read:", text[:80])
    except DecodingError:
        pass
    watched = False
print(sorted(set(told) - {{"compile", "object.__getattr__"}}))
"""


def test_text_of_a_model_makes_nothing_happen(tmp_path: Path) -> None:
    script = _WATCHED.replace("told = []", "told, watched = [], False")
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
    assert not (tmp_path / "broken-out").exists()
    assert len(EXPLOITS) == 20


# Data


def test_conversations_are_read_with_the_functions_that_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = written_package(tmp_path, monkeypatch, [row("multi_turn_base_0", ["add('a')"], [])])
    (one,) = read(data)
    assert [turn.calls for turn in one.turns] == [("add('a')",), ()]
    assert [turn.messages for turn in one.turns] == [(("user", "Turn 0."),), (("user", "Turn 1."),)]
    assert {each["name"] for each in one.turns[0].functions} >= {"add", "close"}
    assert one.world().call("names").text == "[]"
    (data / "BFCL_v4_multi_turn_base.json").write_text('{"id": "x"}\n')
    with pytest.raises(UsageError, match="found something else"):
        read(data)


def test_other_code_of_the_services_is_found_before_anything_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = written_package(tmp_path, monkeypatch, [row("multi_turn_base_0", ["add('a')"])])
    (file,) = tmp_path.rglob("ticket_api.py")
    file.write_text(TICKETS + "\n")
    with pytest.raises(UsageError, match="pinned version"):
        read(data)


def test_long_conversations_have_padded_results(code: ServiceCode) -> None:
    long = conversation(code, ("add('a')",), id="multi_turn_long_context_0")
    world = long.world()
    world.call("add", ("a",))
    assert len(world.call("show", ("a",)).text) > 40_000
    assert len(CLASSES) == 2


def test_what_is_no_call_of_a_function_by_name_with_literals_is_refused() -> None:
    for text in ("", "go", "1", "[go()]", "a.go()", "go(x=y)", "go(x=-'a')", "go(x=1)(2)", "go(x=1, x=2)"):
        with pytest.raises(DecodingError):
            read_call(text)
