"""The ways through the code: what one check, one fix and one incident pass. `python -m tests.walks` prints them."""
