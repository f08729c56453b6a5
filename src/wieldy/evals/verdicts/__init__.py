"""What became of a run, from its journal: verdicts of five kinds, and whose failure it was.

Begin with `verdict`, then `attribution`. Below: `statistics`; above: `cases`.
"""
