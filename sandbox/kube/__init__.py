"""Kubernetes API servers on this machine, one per managed cluster, that real clients are content with."""
