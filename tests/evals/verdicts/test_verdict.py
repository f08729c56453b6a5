"""Verdicts and their counts: nothing is left out, and denominators are told."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wieldy.evals.verdicts.verdict import KINDS, LAYERS, PASS, Verdict, failed, invalid_task, tally, unscored

VERDICTS = st.builds(
    Verdict,
    kind=st.sampled_from(KINDS),
    layer=st.none() | st.sampled_from(LAYERS),
    reason=st.text(max_size=20),
    evidence=st.lists(st.integers(0, 99), max_size=3).map(tuple),
)


@given(st.lists(VERDICTS, max_size=40))
def test_every_trial_is_counted_once_and_rates_are_of_those_scored(verdicts: list[Verdict]) -> None:
    counts = tally(verdicts)
    assert counts.total == len(verdicts)
    assert counts.scored == sum(verdict.kind in ("pass", "fail", "abstain") for verdict in verdicts)
    assert f"{len(verdicts)} in all" in str(counts)
    if counts.rate is None:
        assert counts.scored == 0
    else:
        assert f"{counts.passed}/{counts.scored}" in str(counts)
        low, high = counts.interval
        assert low <= counts.rate <= high


def test_what_says_nothing_about_the_model_is_told_by_layer() -> None:
    verdicts = [PASS, failed("wrong-value"), unscored("provider", "rate-limit"), unscored("tool", "crash")]
    counts = tally([*verdicts, unscored("provider", "rate-limit"), invalid_task("no-answer-fits")])
    assert str(counts) == "1/2 = 50.0% [9.5%, 90.5%]; 3 unscored (provider 2, tool 1); 1 invalid task; 6 in all"
    assert tally([unscored("provider", "down")]).rate is None
    assert str(tally([])) == "0 scored; 0 in all"
