"""What a tool's schema expects at each place, and values that stand as raw text or as trees of elements."""
