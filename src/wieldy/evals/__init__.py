"""Evaluation: what became of trials of tasks, whose failure it was, and how sure one can be of the numbers.

The journal is the only source of what happened: a verdict is computed from the entries of a run, and names them.
Above lies `apps`; below it `agent`, whose runs are looked at. Read in this order: `verdicts`, `attribution`, `tasks`,
`running`, `results`, `reporting`; `statistics` knows nothing of the others, `bfcl` is one benchmark as tasks.
Deliberately not here: how a run goes on, and anything shown on a terminal.
"""
