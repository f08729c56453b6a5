"""Taking text that arrives in pieces: sources, patterns that know when they cannot tell yet, and where events go."""
