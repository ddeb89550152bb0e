"""A Slack workspace on this machine: the Web API, Socket Mode and rate limits, for unmodified client libraries."""
