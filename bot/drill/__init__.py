"""Runs scenarios through a local Slack without a browser, and compares the answers with what is expected."""
