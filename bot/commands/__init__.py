"""What each command does in a terminal: settings in, a report out, an exit code back."""
