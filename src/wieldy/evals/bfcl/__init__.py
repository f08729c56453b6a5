"""The Berkeley Function-Calling Leaderboard as tasks: its data, its rules, and stricter rules beside them.

The data is read from a `bfcl_eval` wheel or installation, and nothing of it is kept here; of its code only the services
behind conversations are run, by checksum (`conversations`).
`official` judges as the leaderboard's checker does, its defects included, so that numbers compare; `strict` judges what
was meant. Read in this order: `categories`, `data`, `offering` (tasks as tools), `official`, `strict`, `scoring`.
Deliberately not here: web search and memory.
"""
