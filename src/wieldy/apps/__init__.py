"""Programs over the library: each only assembles rooms below and adds no behaviour of its own."""
