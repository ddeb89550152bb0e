"""Local Kubernetes API servers, one per managed cluster, that work with real clients such as kubectl."""
