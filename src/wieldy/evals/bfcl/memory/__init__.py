"""BFCL's questions about earlier conversations: a memory that is filled first, and an answer that must be in it.

Read in this order: `data`, `filling` (the conversations before, and what is kept of them), `asking` (one question),
`official` and `strict` (rules), `scoring`, `cases`. Deliberately not here: a memory of vectors, which needs a model for
embeddings.
"""
