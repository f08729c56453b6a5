"""The tool-use layer for language models: everything between a model's tokens and the outside world."""
