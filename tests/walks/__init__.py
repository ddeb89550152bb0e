"""Traces the code paths of one check, one fix and one incident. `python -m tests.walks` prints them."""
