"""Intervals, tests, repeats and agreement: published values, and laws that hold for all."""

from __future__ import annotations

import itertools
import math
import random
from math import comb
from statistics import NormalDist

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from wieldy.evals.statistics import (
    bootstrap_interval,
    clustered_mean,
    clustered_wilson,
    cohen_kappa,
    fleiss_kappa,
    mcnemar,
    mean_interval,
    mean_over_tasks,
    paired_difference,
    pass_at_k,
    pass_hat_k,
    permutation_p_value,
    sample_size,
    two_way_clustered_mean,
    two_way_clustered_wilson,
    wilson,
)
from wieldy.evals.statistics.distributions import incomplete_beta, student_t_cdf, student_t_quantile
from wieldy.evals.statistics.planning import paired_variance, unpaired_variance

COUNTS = st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
VALUES = st.lists(st.floats(-5, 5), min_size=2, max_size=30)


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(0, 949, 0.0, 0.0040), (0, 97, 0.0, 0.038), (63, 97, 0.551, 0.737), (16, 16, 0.806, 1.0)],
)
def test_wilson_gives_published_intervals(successes: int, trials: int, low: float, high: float) -> None:
    assert wilson(successes, trials) == (pytest.approx(low, abs=6e-4), pytest.approx(high, abs=6e-4))


@given(COUNTS)
def test_wilson_holds_the_rate_and_mirrors(counts: tuple[int, int]) -> None:
    successes, trials = counts
    low, high = wilson(successes, trials)
    assert 0.0 <= low <= successes / trials <= high <= 1.0
    mirrored = wilson(trials - successes, trials)
    assert mirrored == (pytest.approx(1 - high, abs=1e-12), pytest.approx(1 - low, abs=1e-12))


def test_an_interval_of_nothing_is_everything_and_impossible_counts_are_refused() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    with pytest.raises(ValueError, match="from 0 to 3 successes"):
        wilson(4, 3)
    with pytest.raises(ValueError, match="confidence"):
        wilson(1, 3, confidence=95)


@pytest.mark.parametrize(
    ("degrees", "quantile"),
    [(1, 12.706204736174698), (2, 4.302652729749464), (10, 2.2281388519649385), (1e6, 1.959966)],
)
def test_student_quantiles_are_those_of_the_tables(degrees: float, quantile: float) -> None:
    assert student_t_quantile(0.975, degrees) == pytest.approx(quantile, rel=1e-6)


@given(st.floats(1e-12, 0.49))
def test_student_quantiles_of_one_degree_are_those_of_cauchy_far_out_as_well(probability: float) -> None:
    exact = -1.0 / math.tan(math.pi * probability)
    assert student_t_quantile(probability, 1) == pytest.approx(exact, rel=1e-10)


@given(st.floats(0.001, 0.999), st.floats(1, 500))
def test_student_quantile_undoes_the_distribution(probability: float, degrees: float) -> None:
    assert student_t_cdf(student_t_quantile(probability, degrees), degrees) == pytest.approx(probability, abs=1e-9)


@given(st.integers(1, 40), st.integers(1, 40), st.floats(0, 1))
def test_incomplete_beta_is_the_tail_of_a_binomial(a: int, b: int, x: float) -> None:
    n = a + b - 1
    tail = math.fsum(comb(n, k) * x**k * (1 - x) ** (n - k) for k in range(a, n + 1))
    assert incomplete_beta(a, b, x) == pytest.approx(tail, abs=1e-10)


@given(VALUES)
def test_clusters_of_one_value_each_change_nothing(values: list[float]) -> None:
    clustered = clustered_mean(values, range(len(values)))
    plain = mean_interval(values)
    variance = sum((value - plain.mean) ** 2 for value in values) / (len(values) - 1)
    assert clustered == plain
    assert plain.standard_error == pytest.approx(math.sqrt(variance / len(values)), abs=1e-12)
    both = two_way_clustered_mean(values, range(len(values)), range(len(values)))
    assert both.standard_error == pytest.approx(plain.standard_error, abs=1e-12)


@given(VALUES, st.integers(2, 5))
def test_repeating_every_value_does_not_narrow_a_clustered_interval(values: list[float], times: int) -> None:
    repeated = [value for value in values for _ in range(times)]
    clusters = [index for index in range(len(values)) for _ in range(times)]
    once, often = mean_interval(values), clustered_mean(repeated, clusters)
    assert often.standard_error == pytest.approx(once.standard_error, abs=1e-9)
    assert (often.values, often.clusters) == (len(repeated), len(values))


@given(st.lists(st.booleans(), min_size=3, max_size=60))
def test_a_clustered_rate_is_never_surer_than_independent_trials(outcomes: list[bool]) -> None:
    low, high = wilson(sum(outcomes), len(outcomes))
    clustered_low, clustered_high = clustered_wilson(outcomes, [index // 2 for index in range(len(outcomes))])
    assert clustered_low <= low + 1e-12
    assert clustered_high >= high - 1e-12


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=60))
def test_a_rate_clustered_in_two_ways_stays_within_0_and_1_and_is_never_surer(
    trials: list[tuple[bool, int, int]],
) -> None:
    outcomes, first, second = map(list, zip(*trials, strict=True))
    assume(len(set(first)) > 1 and len(set(second)) > 1)
    low, high = two_way_clustered_wilson(outcomes, first, second)
    plain_low, plain_high = wilson(sum(outcomes), len(outcomes))
    assert 0.0 <= low <= sum(outcomes) / len(outcomes) <= high <= 1.0
    assert low <= plain_low + 1e-12
    assert high >= plain_high - 1e-12
    assert two_way_clustered_wilson(outcomes, second, first) == pytest.approx((low, high), abs=1e-12)
    if clustered_mean([float(outcome) for outcome in outcomes], first).standard_error > 1e-6:
        one_way = clustered_wilson(outcomes, first)
        assert two_way_clustered_wilson(outcomes, first, range(len(trials))) == pytest.approx(one_way, abs=1e-6)


def test_one_cluster_is_refused() -> None:
    with pytest.raises(ValueError, match="at least two clusters"):
        clustered_mean([1.0, 2.0], ["a", "a"])
    with pytest.raises(ValueError, match="one cluster for each"):
        clustered_mean([1.0, 2.0], ["a"])


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=14))
def test_mcnemar_counts_all_ways_in_which_pairs_could_have_been_swapped(pairs: list[tuple[bool, bool]]) -> None:
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    found = mcnemar(first, second)
    discordant = [one - other for one, other in pairs if one != other]
    sums = [sum(swap) for swap in itertools.product(*[(each, -each) for each in discordant])]
    seen = abs(sum(discordant))
    exact = sum(abs(each) >= seen for each in sums) / len(sums)
    at = sum(each == seen for each in sums) / len(sums)  # one tail's
    assert found.exact == pytest.approx(exact, abs=1e-12)
    halved = at if seen else at / 2 if discordant else 0.0  # where no pair differs there is nothing to test
    assert found.mid_p == pytest.approx(exact - halved, abs=1e-12)
    assert permutation_p_value(first, second) == pytest.approx(exact, abs=1e-12)


@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=1, max_size=9))
def test_the_permutation_test_counts_every_swap(pairs: list[tuple[int, int]]) -> None:
    scaled = [(one / 10, other / 10) for one, other in pairs]
    differences = [other - one for one, other in pairs]
    seen = abs(sum(differences))
    ways = [sum(swap) for swap in itertools.product(*[(each, -each) for each in differences])]
    expected = sum(abs(each) >= seen for each in ways) / len(ways)
    assert permutation_p_value(*zip(*scaled, strict=True)) == pytest.approx(expected, abs=1e-12)


def test_many_different_values_are_swapped_at_random_and_repeatably() -> None:
    chance = random.Random(7)
    first = [chance.gauss(0, 1) for _ in range(40)]
    second = [value + 1.0 + chance.gauss(0, 1) for value in first]
    p = permutation_p_value(first, second, resamples=500)
    assert p == permutation_p_value(first, second, resamples=500)
    assert 1 / 501 <= p < 0.05
    assert permutation_p_value(first, first) == 1.0


RATES = st.builds(lambda passed, trials: min(passed, trials) / trials, st.integers(0, 5), st.integers(1, 5))


@given(st.lists(st.tuples(RATES, RATES), min_size=1, max_size=9))
def test_the_permutation_test_of_rates_is_that_of_whole_numbers(pairs: list[tuple[float, float]]) -> None:
    whole = [(round(60 * one), round(60 * other)) for one, other in pairs]
    assert permutation_p_value(*zip(*pairs, strict=True)) == permutation_p_value(*zip(*whole, strict=True))


def test_the_permutation_test_of_thirds_is_exact_for_as_many_tasks_as_a_benchmark_has() -> None:
    """Beside the sums of all swaps, counted one difference after the other."""
    chance = random.Random(7)
    thirds = [chance.choice([-3, -1, 0, 1, 2, 3]) for _ in range(1_000)]
    sums = {0: 1}
    for each in filter(None, thirds):
        following = dict[int, int]()
        for total, count in sums.items():
            for step in (each, -each):
                following[total + step] = following.get(total + step, 0) + count
        sums = following
    seen = abs(sum(thirds))
    exact = sum(count for total, count in sums.items() if abs(total) >= seen) / sum(sums.values())
    found = permutation_p_value([0.0] * len(thirds), [each / 3 for each in thirds])
    assert found == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("mean", [0.0, 0.1, 0.2, 0.3])
def test_random_swaps_say_what_the_normal_distribution_says_of_many_values(mean: float) -> None:
    chance = random.Random(7)
    differences = [chance.gauss(mean, 1) for _ in range(101)]
    deviates = abs(sum(differences)) / math.sqrt(sum(each**2 for each in differences))
    expected = 2.0 * (1.0 - NormalDist().cdf(deviates))
    assert permutation_p_value([0.0] * 101, differences, resamples=20_000) == pytest.approx(expected, abs=0.02)


def test_a_paired_difference_is_that_of_the_tasks() -> None:
    found = paired_difference([0, 0, 1, 1], [1, 0, 1, 1])
    assert found.mean == 0.25
    assert found.low < 0.25 < found.high
    clustered = paired_difference([0, 0, 1, 1], [1, 1, 1, 1], clusters=["a", "a", "b", "b"])
    assert clustered.clusters == 2


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n), st.integers(1, n))))
def test_pass_at_k_and_pass_hat_k_are_means_over_all_samples(counts: tuple[int, int, int]) -> None:
    successes, trials, k = counts
    outcomes = [True] * successes + [False] * (trials - successes)
    samples = list(itertools.combinations(outcomes, k))
    assert pass_at_k(trials, successes, k) == pytest.approx(sum(map(any, samples)) / len(samples))
    assert pass_hat_k(trials, successes, k) == pytest.approx(sum(map(all, samples)) / len(samples))


def test_more_trials_than_there_were_are_refused() -> None:
    with pytest.raises(ValueError, match="run more trials"):
        pass_hat_k(3, 2, 4)
    with pytest.raises(ValueError, match="at least one task"):
        mean_over_tasks([])


@pytest.mark.parametrize(
    ("difference", "variance", "expected"),
    [
        (0.05, unpaired_variance(0.7), 1319),
        (0.05, paired_variance(0.7, 0.5), 660),
        (0.02, paired_variance(0.9, 0.5), 1766),
    ],
)
def test_sample_sizes_are_the_published_ones(difference: float, variance: float, expected: int) -> None:
    assert sample_size(difference, variance_between=variance) == pytest.approx(expected, abs=1)


def test_more_trials_of_each_task_need_fewer_tasks() -> None:
    once = sample_size(0.05, variance_between=0.1, variance_first=0.2, variance_second=0.2)
    often = sample_size(
        0.05, variance_between=0.1, variance_first=0.2, variance_second=0.2, trials_first=10, trials_second=10
    )
    assert once > often > sample_size(0.05, variance_between=0.1)
    with pytest.raises(ValueError, match="difference other than 0"):
        sample_size(0.0, variance_between=0.1)


def test_agreement_has_the_published_values() -> None:
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert cohen_kappa(first, second) == pytest.approx(0.4)
    counts = [(0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1)]
    counts += [(7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7)]
    labels = [[label for label, count in enumerate(row) for _ in range(count)] for row in counts]
    assert fleiss_kappa(labels) == pytest.approx(0.20993, abs=1e-5)


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=30))
def test_whoever_always_agrees_agrees_fully(labels: list[str]) -> None:
    assert cohen_kappa(labels, labels) == 1.0
    assert fleiss_kappa([(label, label, label) for label in labels]) == pytest.approx(1.0)


def test_labels_of_other_items_are_refused() -> None:
    with pytest.raises(ValueError, match="same items"):
        cohen_kappa(["a"], [])
    with pytest.raises(ValueError, match="same number of labels"):
        fleiss_kappa([["a", "b"], ["a"]])


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    # With the seed fixed this is one experiment that always comes out the same; the large one is in the evidence.
    chance = random.Random(20_261_130)
    rates, trials, studies = (0.3, 0.5, 0.7, 0.9), 80, 400
    held = 0
    for rate in rates:
        for _ in range(studies):
            low, high = wilson(sum(chance.random() < rate for _ in range(trials)), trials)
            held += low <= rate <= high
    assert 0.935 <= held / (studies * len(rates)) <= 0.965


def test_clustered_intervals_hold_the_truth_where_plain_ones_do_not() -> None:
    chance = random.Random(20_261_130)
    clustered = plain = 0
    studies, tasks, trials = 400, 40, 5
    for _ in range(studies):
        values, clusters = list[float](), list[int]()
        for task in range(tasks):
            rate = chance.betavariate(1.0, 1.0)
            values += [float(chance.random() < rate) for _ in range(trials)]
            clusters += [task] * trials
        estimate, naive = clustered_mean(values, clusters), mean_interval(values)
        clustered += estimate.low <= 0.5 <= estimate.high
        plain += naive.low <= 0.5 <= naive.high
    assert 0.935 <= clustered / studies <= 0.965
    assert plain / studies < 0.9


def test_the_bootstrap_draws_clusters() -> None:
    values = [0.0] * 10 + [1.0] * 10
    low, high = bootstrap_interval(values, clusters=[at // 10 for at in range(20)])
    assert (low, high) == (0.0, 1.0)
    assert bootstrap_interval(values, clusters=range(20)) == bootstrap_interval(values)
    assert bootstrap_interval([1.0]) == bootstrap_interval([1.0] * 3, clusters="aaa") == (0.0, 1.0)
    with pytest.raises(ValueError, match=r"shorter|longer"):
        bootstrap_interval(values, clusters="a")


@given(st.integers(2, 30), st.integers(2, 4), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_tasks_that_are_all_alike_leave_room_for_others(tasks: int, trials: int, value: float) -> None:
    low, high = bootstrap_interval([value] * tasks)
    assert 0.0 <= low <= value <= high <= 1.0
    assert high - low > 1 / (tasks + 1)
    more = bootstrap_interval([value] * (tasks + 10))
    assert more[1] - more[0] < high - low
    if value in (0.0, 1.0):  # then it is the interval of the rate itself, of which each task has several trials
        clusters = [task for task in range(tasks) for _ in range(trials)]
        assert (low, high) == pytest.approx(clustered_wilson([value == 1.0] * len(clusters), clusters))


def test_the_bootstrap_draws_tasks_and_is_repeatable() -> None:
    estimates = [0.0, 0.25, 0.5, 1.0, 1.0, 0.75]
    low, high = bootstrap_interval(estimates)
    assert (low, high) == bootstrap_interval(estimates)
    assert low < mean_over_tasks(estimates) < high
