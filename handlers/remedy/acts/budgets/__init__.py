"""Relaxing a disruption budget, and putting it back."""
