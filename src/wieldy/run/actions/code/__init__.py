"""Acting by code: tools as Python functions, and code as the model of a run within the run.

Read in this order. `names`, `types` and `stubs` say what code may call, `checking` (with `certain`, `parts_of_results`
and `uses`) what is wrong with it before it runs. `model` is code behind the model port, over an `interpreter` and the
`prelude`. `replay` and `namespace` run code again with what is recorded. `values` is what code gets, `ended` how it
ended, `report` what the model that wrote it is told. `skills` keeps code that has succeeded.

Whose data code acts on: `levels` are the ways in which that is known, `labels` what is said of calls and results then;
`handles` and `tracked` are interpreters that know it. `places` has one namespace for each, and `placing` (with `taken`)
says where a piece of code runs. Deliberately not here: isolation (`wieldy.sandbox`), the tool `python` (`agent.code`).
"""
