"""Models: each module turns one way of reaching a model into the `Model` port of `core.ports`.

`resolve` reads a model string. `openai` and `anthropic` write requests, `openai_answer` and `anthropic_answer` read
answers: both halves are pure and share `http`, the only place that waits for a server. Deliberately not here: which
tool runs, what a run is, and any caching of answers.
"""
