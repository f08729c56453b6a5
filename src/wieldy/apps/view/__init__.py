"""The web page over a journal: what runs there are, what each did and why, what waits for a person, as it goes on.

`rows` says of a run what a list shows, `run_list` finds and keeps rows, `watched` tells one run as the page of a report
does, `access` says who may ask, `application` answers, `page` is what a browser gets (`shell/`). The journal is only
read, but for decisions where those are allowed. Deliberately not here: evaluations (`wieldy.evals.reports`), listening
(`wieldy.apps.cli.view_serving`).
"""
