"""Chat formats: how model families write tool calls, each as one definition."""
