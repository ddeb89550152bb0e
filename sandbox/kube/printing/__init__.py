"""Server-side printing for `kubectl get`: the columns of each kind and their cells."""
