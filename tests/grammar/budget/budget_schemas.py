"""Small random schemas, as `lowering` writes them, and vocabularies: what the laws of the budget are tested with."""

from hypothesis import strategies as st

from wieldy.grammar.matcher import Tokenizer

_MERGED = (
    b'{"', b'":', b'": ', b'"}', b'",', b'", "', b'", ', b"[[", b"]]", b"}}", b'{"a":', b'"}]', b"[]", b"{}", b'""',
    b"12", b"1234", b"0.5", b"-1", b"aaa", b"ab", b"bb", b"true", b"null", b"  ", b"\n  ", b"\xc3\xa9", b"\xf0\x9f",
    b"\\n", b"\\u00", b"<a", b"</", b"a-", b"x-",
)  # fmt: skip


def merged_tokens() -> Tokenizer:
    """A vocabulary of all bytes and of tokens that reach over what a schema tells apart."""
    return Tokenizer([*(bytes([value]) for value in range(256)), b"<|end|>", *_MERGED], end_token=256)


_names = st.sampled_from(["a", "ab", "b", "é", 'q"', "x-a"])
_scalars = st.none() | st.booleans() | st.integers(-20, 2000) | st.sampled_from(["", "a", "ab", "é\n", 'q"\\', 0.5])
_bounds = st.integers(-120, 120)
_patterns = st.sampled_from(["[a-b]{2,3}-[0-9]+", "(?:a|bb)*x", "[^a]*", "é+", '"[\\n"]{1,2}', "(?:ab|a)?b{2}"])


def _optional(**keywords: st.SearchStrategy) -> st.SearchStrategy[dict]:
    return st.fixed_dictionaries({}, optional=keywords)


def _with_range(kind: str, low: str, high: str, values: st.SearchStrategy) -> st.SearchStrategy[dict]:
    pairs = st.tuples(values, values).map(sorted)
    return st.one_of(
        st.just({"type": kind}),
        values.map(lambda least: {"type": kind, low: least}),
        values.map(lambda most: {"type": kind, high: most}),
        pairs.map(lambda pair: {"type": kind, low: pair[0], high: pair[1]}),
    )


_integers = st.one_of(
    _with_range("integer", "minimum", "maximum", _bounds),
    st.builds(
        lambda step, least: {"type": "integer", "minimum": least, "multipleOf": step}, st.integers(1, 30), _bounds
    ),
)
_numbers = _with_range("number", "minimum", "maximum", _bounds.map(lambda value: value / 4))
_strings = st.one_of(
    _with_range("string", "minLength", "maxLength", st.integers(0, 4)),
    _patterns.map(lambda pattern: {"type": "string", "pattern": f"^(?:{pattern})$"}),
    st.builds(lambda pattern, least: {"type": "string", "pattern": f"^(?:{pattern})$", "minLength": least},
              st.sampled_from(["[a-b]{2,3}-[0-9]+", "(?:a|bb)*x", "[^a]*"]), st.integers(0, 6)),
)  # fmt: skip
_leaves = st.one_of(
    st.just({}),
    st.sampled_from(["boolean", "null"]).map(lambda kind: {"type": kind}),
    st.lists(_scalars, min_size=1, max_size=3, unique_by=repr).map(lambda values: {"enum": values}),
    _integers,
    _numbers,
    _strings,
)


def _combined(schemas: st.SearchStrategy[dict]) -> st.SearchStrategy[dict]:
    return st.one_of(
        st.lists(schemas, min_size=1, max_size=3).map(lambda branches: {"anyOf": branches}),
        st.builds(
            lambda item, least, more: {"type": "array", "items": item, "minItems": least, **more(least)},
            schemas,
            st.integers(0, 3),
            st.sampled_from([lambda least: {}, lambda least: {"maxItems": least + 1}]),
        ),
        st.builds(
            lambda items, rest, least: {
                "type": "array", "prefixItems": items, "items": rest, "minItems": min(least, len(items)),
            },
            st.lists(schemas, min_size=1, max_size=3), st.just(False) | schemas, st.integers(0, 3),
        ),
        st.builds(_object, st.dictionaries(_names, schemas, max_size=4), st.data(), st.just(False) | schemas),
    )  # fmt: skip


def _object(properties: dict, data: st.DataObject, further: object) -> dict:
    required = data.draw(st.lists(st.sampled_from(sorted(properties)), unique=True)) if properties else []
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": further}


schemas = st.recursive(_leaves, _combined, max_leaves=6)
