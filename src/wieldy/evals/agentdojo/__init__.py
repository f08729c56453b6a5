"""AgentDojo as cases: tasks of users, and the same tasks where strangers' texts ask for something else.

Tools are carried out on the benchmark's own environments, each trial from a fresh one. Whether the user's task is done
and whether the stranger's is, the benchmark's own functions say, of the environment as the journal's calls make it
anew. Read in this order: `package` (the benchmark, imported from where it is installed), `declarations` (what its tools
do, and who may have shaped what they return), `tasks`, `offering`, `models` (scripts), `judging`, `suite`.
"""
