"""Block Kit's rules, as docs.slack.dev/reference/block-kit has them, in the words in which Slack refuses."""
