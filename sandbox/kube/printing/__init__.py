"""What `kubectl get` prints: the columns of each kind, and the cells that the server fills in."""
