"""Reading a cluster's own API server."""
