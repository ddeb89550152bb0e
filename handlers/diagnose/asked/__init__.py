"""Answers to questions about something in particular: each is asked with its word only (`path`, `rbac`, …)."""
