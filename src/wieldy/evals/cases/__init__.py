"""What can be run and judged, with what it is run, and the result of one trial.

Begin with `case`. A benchmark gives cases; it need know nothing of studies. Below: `verdicts`; above: `tasks`.
"""
