"""Detection: which format a chat template belongs to, and what is said when it belongs to none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.errors import UsageError
from wieldy.formats import get
from wieldy.formats.templates.detection import detect, rank
from wieldy.formats.templates.probes import ONE_CALL, PROBES, TWO_CALLS, completion, reply_text, shared_length
from wieldy.formats.templates.template import ChatTemplate

FORMATS = [get(name) for name in ("hermes", "qwen3-coder", "kimi-k2", "glm-4.5", "glm-4.7")]


def template(calls: str, *, prefill: str = "", history: str = "{{ m.content }}", opened: str = "") -> str:
    """A ChatML template that writes calls in this way."""
    return (
        "{% for t in tools or [] %}{{ t | tojson }}\n{% endfor %}"
        "{% for m in messages %}<|im_start|>{{ m.role }}\n"
        + opened
        + history
        + calls
        + "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n"
        + prefill
        + "{% endif %}"
    )


EACH = "{% for c in m.tool_calls or [] %}"
HERMES = (
    EACH + '{{ "\\n" if m.content or not loop.first }}<tool_call>\n{"name": "{{ c.function.name }}", "arguments": '
    "{{ c.function.arguments | tojson }}}\n</tool_call>{% endfor %}"
)
CODER = (
    EACH + "\n<tool_call>\n<function={{ c.function.name }}>\n{% for k, v in c.function.arguments.items() %}"
    "<parameter={{ k }}>\n{{ v if v is string else v | tojson }}\n</parameter>\n{% endfor %}"
    "</function>\n</tool_call>{% endfor %}"
)
GLM = (
    EACH + "\n<tool_call>{{ c.function.name }}\n{% for k, v in c.function.arguments.items() %}"
    "<arg_key>{{ k }}</arg_key>\n<arg_value>{{ v if v is string else v | tojson }}</arg_value>\n{% endfor %}"
    "</tool_call>{% endfor %}"
)
KIMI = (
    "{% if m.tool_calls %}<|tool_calls_section_begin|>{% for c in m.tool_calls %}<|tool_call_begin|>{{ c.id }}"
    "<|tool_call_argument_begin|>{{ c.function.arguments | tojson }}<|tool_call_end|>{% endfor %}"
    "<|tool_calls_section_end|>{% endif %}"
)
MISTRAL = EACH + "[TOOL_CALLS]{{ c.function.name }}[ARGS]{{ c.function.arguments | tojson }}{% endfor %}"
UNKNOWN = EACH + "CALL {{ c.function.name }} WITH {{ c.function.arguments | tojson }}.{% endfor %}"


@pytest.mark.parametrize(
    ("calls", "name"), [(HERMES, "hermes"), (CODER, "qwen3-coder"), (GLM, "glm-4.5"), (KIMI, "kimi-k2")]
)
@pytest.mark.parametrize("prefill", ["", "<think>\n", "<think>\n\n</think>\n\n"])
def test_the_format_is_found_whatever_the_prompt_has_begun(calls: str, name: str, prefill: str) -> None:
    assert detect(template(calls, prefill=prefill), FORMATS) == name


@pytest.mark.parametrize("calls", [HERMES, CODER, GLM, KIMI])
def test_the_order_of_the_formats_does_not_matter_where_one_fits_better(calls: str) -> None:
    assert detect(template(calls), FORMATS) == detect(template(calls), FORMATS[::-1])


def test_formats_that_fit_equally_keep_their_order() -> None:
    hermes = FORMATS[0]
    first, *_ = rank(template(HERMES), [hermes, hermes])
    assert first.name == "hermes"
    assert [candidate.name for candidate in rank(template(UNKNOWN), FORMATS)] == [f.name for f in FORMATS]


@pytest.mark.parametrize(("ids", "name"), [("", "mistral-v13"), ("[CALL_ID]{{ c.id }}", "mistral-v11")])
@pytest.mark.parametrize("formats", [("mistral-v11", "mistral-v13"), ("mistral-v13", "mistral-v11")])
def test_ids_on_the_wire_tell_formats_apart(ids: str, name: str, formats: tuple[str, ...]) -> None:
    assert detect(template(MISTRAL.replace("[ARGS]", f"{ids}[ARGS]")), [get(name) for name in formats]) == name


def test_what_stands_behind_the_end_of_the_turn_counts_for_nothing() -> None:
    goes_on = template(HERMES + "{% if m.tool_calls %}<|im_end|><|im_start|>system\nGo on.{% endif %}")

    best, *_ = rank(goes_on, FORMATS)

    assert (best.name, best.right, best.clean) == ("hermes", len(PROBES), len(PROBES))


def test_calls_behind_what_looks_like_the_end_of_the_turn_are_found() -> None:
    ends_early = template("{% if m.tool_calls %}<|im_end|>{% endif %}" + HERMES)

    assert detect(ends_early, FORMATS) == "hermes"


def test_a_candidate_says_what_did_not_come_back() -> None:
    best, *others = rank(template(HERMES), FORMATS)
    assert best.fits
    assert best.right == best.probes == len(PROBES)
    assert best.reasons == ()
    assert others
    for other in others:
        assert not other.fits
        assert other.reasons[0].startswith("one call: ")


def test_a_template_that_writes_calls_like_no_format_is_told_what_was_tried() -> None:
    with pytest.raises(UsageError, match=r"Tried 5, nearest first: hermes: one call: expected calls of"):
        detect(template(UNKNOWN), FORMATS)


@pytest.mark.parametrize(
    ("calls", "why"), [("", "drops calls"), (EACH + "{{ raise_exception('no') }}{% endfor %}", "refuses calls: no")]
)
def test_a_template_without_calls_has_no_format(calls: str, why: str) -> None:
    with pytest.raises(UsageError, match=rf"shows no calls \({why}\)"):
        detect(template(calls), FORMATS)


def test_what_is_no_template_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        detect("{% if %}", FORMATS)


def test_without_formats_nothing_fits() -> None:
    with pytest.raises(UsageError, match="Tried 0"):
        detect(template(HERMES), [])


# Probes


def written(source: str) -> str:
    text = completion(ChatTemplate(source), ONE_CALL)
    assert text is not None
    return text


CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris", "days": 2}}\n</tool_call>'


def test_a_completion_is_what_the_model_would_write_without_the_end_of_its_turn() -> None:
    assert written(template(HERMES)) == CALL


def test_what_the_prompt_has_begun_is_no_part_of_the_completion() -> None:
    emptied = template(
        HERMES, opened="{% if m.role == 'assistant' %}<think>\n\n</think>\n\n{% endif %}", prefill="<think>\n"
    )
    assert written(emptied) == f"\n</think>\n\n{CALL}"


def test_what_the_prompt_begins_and_history_leaves_out_is_no_part_of_the_completion() -> None:
    assert written(template(HERMES, prefill="<think>\n")) == CALL


def test_markup_that_history_and_prompt_begin_alike_is_not_cut_in_two() -> None:
    text = reply_text(ChatTemplate(template(HERMES, prefill="<tool_time>")), ONE_CALL)
    assert text.text == CALL
    assert text.end == "<|im_end|>\n"
    assert text.prompt.endswith("<|im_start|>assistant\n")


@pytest.mark.parametrize(
    "calls", ["", "{{ raise_exception('no calls') if m.tool_calls }}", EACH + "{{ c.id }}{% endfor %}"]
)
def test_a_reply_that_the_template_cannot_show_has_no_completion(calls: str) -> None:
    assert completion(ChatTemplate(template(calls)), ONE_CALL) is None


def test_a_reply_of_which_a_call_is_dropped_has_no_completion() -> None:
    only_first = HERMES.replace("m.tool_calls or []", "(m.tool_calls or [])[:1]")
    assert completion(ChatTemplate(template(only_first)), TWO_CALLS) is None


@given(st.text(), st.text(), st.text())
def test_texts_share_what_they_begin_with(begin: str, left: str, right: str) -> None:
    one, other = begin + left, begin + right
    length = shared_length(one, other)
    assert one[:length] == other[:length]
    assert length == min(len(one), len(other)) or one[length] != other[length]
