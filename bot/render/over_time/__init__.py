"""What happened to a cluster, and what was found before, in words."""
