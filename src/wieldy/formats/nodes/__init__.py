"""The nodes of which a wire is made: each can be written, read, and turned into a shape."""
