"""Small random shapes and random texts of a shape: what the laws of every notation are tested with."""

import json
import random

from hypothesis import strategies as st

from wieldy.grammar.notation.markers import occurrence
from wieldy.grammar.notation.neighbours import with_single_texts
from wieldy.grammar.reading.character_class import character_class
from wieldy.grammar.shape import (
    Characters,
    Exact,
    InOrder,
    Json,
    Named,
    OneOf,
    Repeated,
    Rules,
    Shape,
    TextWithout,
    maybe,
)

ALPHABET = 'ab<>/ \n"\\é😀[]-'
NOISE = 'ab< \n"é😀x\\'

_markers = st.text("ab<>/é", min_size=1, max_size=4)
plain = st.one_of(
    st.text(ALPHABET, min_size=1, max_size=4).map(Exact),
    st.builds(
        lambda allowed, least, more: Characters(
            allowed, at_least=least, at_most=None if more is None else least + more
        ),
        st.sampled_from(["a-z", "ab<", '^"\\\\', "^<", "\\d\\s", "é😀-"]),
        st.integers(0, 2),
        st.none() | st.integers(0, 3),
    ),
    st.lists(_markers | st.tuples(_markers, _markers), min_size=0, max_size=3).map(
        lambda markers: TextWithout(tuple(markers))
    ),
)
values = st.sampled_from(
    [
        Json({}),
        Json({"type": "object"}),
        Json({"type": "array", "items": {"type": "integer"}}),
        Json({"type": "object", "properties": {"a": {"type": "string"}, "b": {"enum": [1, "x"]}}, "required": ["a"]}),
    ]
)


def _combined(parts: st.SearchStrategy[Shape]) -> st.SearchStrategy[Shape]:
    return st.one_of(
        st.lists(parts, max_size=3).map(lambda found: InOrder(tuple(found))),
        st.lists(parts, min_size=1, max_size=3).map(lambda found: OneOf(tuple(found))),
        st.builds(
            lambda part, least, more, between: Repeated(
                part, at_least=least, at_most=None if more is None else least + more, between=between
            ),
            parts,
            st.integers(0, 2),
            st.none() | st.integers(0, 2),
            st.none() | st.text(ALPHABET, min_size=1, max_size=2).map(Exact),
        ),
    )


patterns = st.recursive(plain, _combined, max_leaves=6)
"""Shapes without stops: any such shape."""

fenced = values.map(lambda value: InOrder((Exact("{{"), value, Exact("}}"))))
replies = st.recursive(
    st.one_of(fenced, st.text("ab </>\n", min_size=1, max_size=3).map(Exact)), _combined, max_leaves=6
)
"""Shapes with JSON values, each between literals as on a wire."""


def sampled(rules: Rules, chance: random.Random) -> str:
    """Some text of the rules; of two neighbouring texts, which count as one, a marker is not spelled in two halves."""
    single = with_single_texts(rules)
    return text_of(single.start, single, chance)


def text_of(shape: Shape, rules: Rules, chance: random.Random, depth: int = 0) -> str:
    """Some text of the shape."""
    match shape:
        case Exact(text=text):
            return text
        case Characters(allowed=allowed, at_least=least, at_most=most):
            inside = [character for character in NOISE + ALPHABET + "z5" if character in character_class(allowed)]
            return "".join(
                chance.choice(inside) for _ in range(chance.randint(least, least + 2 if most is None else most))
            )
        case TextWithout(markers=markers):
            text = "".join(chance.choice(ALPHABET) for _ in range(chance.randint(0, 6)))
            return "" if occurrence(markers).search(text) else text
        case Json(schema=schema):
            return _written(_value(schema, chance), chance)
        case InOrder(parts=inner):
            return "".join(text_of(part, rules, chance, depth) for part in inner)
        case OneOf(options=options):
            # Past some depth only the first option, which in a shape that contains itself is the one that ends.
            return text_of(options[0] if depth > 4 else chance.choice(options), rules, chance, depth)
        case Repeated(part=part, at_least=least, at_most=most, between=between):
            count = least if depth > 4 else chance.randint(least, least + 2 if most is None else most)
            joint = "" if between is None else text_of(between, rules, chance, depth)
            return joint.join(text_of(part, rules, chance, depth) for _ in range(count))
        case Named(name=name):
            return text_of(rules.named[name], rules, chance, depth + 1)


def _value(schema: dict, chance: random.Random):
    if schema.get("type") == "array":
        return [chance.randint(-20, 2000) for _ in range(chance.randint(0, 3))]
    if "properties" in schema:
        return {"a": chance.choice(["", 'é\n"\\}}', "😀<b>"]), **chance.choice([{}, {"b": 1}, {"b": "x"}])}
    values = {"": None, "x": [1.5, True, {}], "é": {"y": "}}\t"}}
    return {name: values[name] for name in chance.sample(list(values), chance.randint(0, 3))}


def _written(value: object, chance: random.Random) -> str:
    style = chance.choice([{}, {"separators": (",", ":")}, {"indent": 2}])
    return json.dumps(value, ensure_ascii=False, **style)


_member = InOrder((Characters("a-z_"), Exact(":"), Named("value")))
_token_quoted = InOrder((Exact('<|"|>'), TextWithout(('<|"|>',)), Exact('<|"|>')))
_number = InOrder((maybe(Exact("-")), Characters("0-9"), maybe(InOrder((Exact("."), Characters("0-9"))))))


def _listed(opening: str, part: Shape, comma: str, closing: str) -> Shape:
    return InOrder((Exact(opening), Repeated(part, between=Exact(comma)), Exact(closing)))


RECURSIVE = {
    "a JSON dialect": Rules(
        start=InOrder((Exact("call:"), Characters("a-z_"), _listed("{", _member, ",", "}"), Exact("<end>"))),
        named={
            "value": OneOf((_number, _token_quoted, Exact("true"), Named("list"), _listed("{", _member, ",", "}"))),
            "list": _listed("[", Named("value"), ",", "]"),
        },
    ),
    "Python literals": Rules(
        start=_listed("[", InOrder((Characters("a-z_"), _listed("(", Named("argument"), ", ", ")"))), ", ", "]"),
        named={
            "argument": InOrder((Characters("a-z_"), Exact("="), Named("value"))),
            "quoted": InOrder(
                (
                    Exact("'"),
                    Repeated(OneOf((Characters("^'\\\\\\n"), InOrder((Exact("\\"), Characters("^\\n", at_most=1)))))),
                    Exact("'"),
                )
            ),
            "value": OneOf(
                (
                    _number,
                    Named("quoted"),
                    Exact("None"),
                    _listed("[", Named("value"), ", ", "]"),
                    _listed("{", InOrder((Named("quoted"), Exact(": "), Named("value"))), ", ", "}"),
                )
            ),
        },
    ),
    "recursive XML": Rules(
        start=InOrder((Exact("]<]<call>"), Named("value"), Exact("]<]</call>\n"), TextWithout(("]<]",)))),
        named={
            "value": OneOf(
                (
                    TextWithout(("]<]",)),
                    Repeated(
                        OneOf(
                            tuple(
                                InOrder((Exact(f"]<]<{tag}>"), Named("value"), Exact(f"]<]</{tag}>")))
                                for tag in ("item", "a")
                            )
                        ),
                        at_least=1,
                    ),
                )
            )
        },
    ),
}
"""Shapes that contain themselves, as the families of the catalogue have them."""


def changed(text: str, chance: random.Random) -> str:
    """The text with a character left out, doubled, exchanged or put in, or cut off."""
    position = chance.randint(0, len(text))
    return (
        text[:position]
        + chance.choice(["", chance.choice(ALPHABET), text[position : position + 2]])
        + text[position + 1 :]
    )
