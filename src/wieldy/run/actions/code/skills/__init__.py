"""Skills: code that has succeeded, kept as a named, versioned, typed function with an example and a check.

Read in this order. `skill` is what is kept, `store` the folder that it is kept in. `functions` reads a skill's source,
without running it, by way of `annotations`, and `declaring` makes a tool of what was read. `snippets` makes such a
source of an action that was recorded, and `recorded` finds the action in the journal. `trial` runs an example from its
record, so that no effect is made. Deliberately not here: offering skills to a model (`agent.skills`).
"""
