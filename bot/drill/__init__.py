"""Scenarios played through Slack without a browser, and judged: what was asked for, and what a person could read."""
