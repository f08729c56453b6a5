"""BFCL's conversations of several turns: services that answer for real, and verdicts on what was done to them.

The one place where code of the benchmark runs: its simulators of eight services, each source file of which has a pinned
checksum, are loaded anew for every conversation. What a model wrote is never run; it is read as literals and given to
them as arguments. Read in this order: `data`, `services` (loading), `worlds` (calling), `written` (calls as Python),
`running` (a conversation by an agent), `official` and `strict` (rules), `scoring` (verdicts from the journal).
"""
