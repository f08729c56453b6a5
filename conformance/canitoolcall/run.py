"""Runs the public conformance suite `canitoolcall` with Wieldy's formats as the engine.

    pip install canitoolcall jsonschema
    python conformance/canitoolcall/run.py [--family F]... [--id PATTERN]... [--json FILE] [--jobs N]

The suite's own runner replays each fixture whole and in eight cuts (and in two more, by characters, which it reports
without counting them), and its own checks judge: nothing of that is ours. Printed are its counts for each family and
everything that is not a strict pass. Ends with 1 if a fixture fails, passes only softly, or could not be run, unless
`disputed.toml` says why we hold it to be wrong.
"""

import argparse
import sys
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from canitoolcall.chunking import DEFAULT_STRATEGIES, ChunkStrategy
from canitoolcall.results import CaseResult, RunResults, Status
from canitoolcall.runner import RunConfig, run

HERE = Path(__file__).resolve().parent
DISPUTED: dict[str, str] = tomllib.loads((HERE / "disputed.toml").read_text(encoding="utf-8"))
STRATEGIES = (*DEFAULT_STRATEGIES, ChunkStrategy("char", seed=0), ChunkStrategy("char", seed=1))


def main() -> None:
    """Runs the suite, prints what it found, and ends with 1 unless everything that is not disputed passed strictly."""
    options = arguments()
    results = run(
        RunConfig(
            engine="wieldy_adapter:WieldyAdapter",
            families=options.family,
            ids=options.id,
            strategies=STRATEGIES,
            python=Path(sys.executable),
            env={"PYTHONPATH": str(HERE)},
            jobs=options.jobs,
        )
    )
    report(results)
    if options.json:
        print(f"\nThe suite's results: {results.write(options.json)}")
    raise SystemExit(bool(set(not_passed(results)) - DISPUTED.keys()))


def arguments() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", action="append", default=[], help="only this family (repeatable)")
    parser.add_argument("--id", action="append", default=[], help="only fixtures whose id matches (repeatable)")
    parser.add_argument("--json", type=Path, help="write the suite's results to this file")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    return parser.parse_args()


def report(results: RunResults) -> None:
    """Prints the counts, how the streams were cut, and every case that is no strict pass in all cuts."""
    print(f"canitoolcall {results.canitoolcall_version}, wieldy {results.engine.version}, {results.run.started_at}")
    print(f"cuts: whole, {', '.join(results.run.strategies)}")
    print(f"reported, but not counted by the suite: {', '.join(results.run.synthetic_strategies)}\n")
    kinds = Counter(case.parser_config["units"] for case in results.cases if case.parser_config)
    for kind, count in kinds.items():
        print(f"{count} fixtures were cut into {kind}")
    print()
    summary = results.summary()
    for family, counts in [*summary["by_family"].items(), ("total", summary["totals"])]:
        print(f"  {family:<14}" + "  ".join(f"{status}={count}" for status, count in counts.items() if count))
    uncounted = [case.fixture_id for case in results.cases if case.status is Status.PASS and failed_rows(case)]
    for title, cases in (("Not a strict pass", not_passed(results)), ("Failed in uncounted cuts", uncounted)):
        print(f"\n{title}: {len(cases)}")
        for case in results.cases:
            if case.fixture_id in cases:
                show(case)


def not_passed(results: RunResults) -> Sequence[str]:
    """The fixtures that did not pass strictly."""
    return [case.fixture_id for case in results.cases if case.status is not Status.PASS]


def failed_rows(case: CaseResult) -> list[str]:
    """What the checks found, in words."""
    return [f"{row.check} ({row.strategy}): {row.detail}" for row in case.checks if row.status is not Status.PASS]


def show(case: CaseResult) -> None:
    """Prints one case, with the first few of its findings."""
    print(f"  {case.fixture_id}: {case.status.value} {case.reason or case.harness_error or ''}")
    for row in failed_rows(case)[:3]:
        print(f"      {row}")
    if case.fixture_id in DISPUTED:
        print("      We hold the fixture to be wrong: " + " ".join(DISPUTED[case.fixture_id].split()))


if __name__ == "__main__":
    main()
