"""What servers can be asked to enforce, each in its own request fields. Pure: nothing here sends or waits."""
