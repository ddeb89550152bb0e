"""`az aks command invoke`: interprets the `kubectl get` commands that the sandbox supports."""
