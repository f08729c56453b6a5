"""A small benchmark of our own in the shape of AgentDojo's package, for tests where that is not installed."""
