"""The model families, one module each: data made of nodes, no code."""
