"""What a conversation looks like around the replies: turns, lists of tools, results and ids."""
