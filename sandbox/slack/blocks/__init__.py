"""Block Kit validation, per docs.slack.dev/reference/block-kit, with Slack's error messages."""
