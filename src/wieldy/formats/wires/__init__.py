"""What replies look like: one run of text, messages with headers, labelled lines, or JSON in prose."""
