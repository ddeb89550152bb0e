"""`az aks command invoke`: the few `kubectl get` lines that can be asked from inside a cluster, understood here."""
