"""A Slack workspace on this machine: its Web API, its sockets and its limits, for the unmodified client libraries."""
