"""From a cluster's description and its machines to the Kubernetes objects that its API server would hold.

scene       what all objects of one cluster share: ids, moments, metadata
nodes       one Node and Lease for each machine
seats       which node a pod goes to, and which address it gets there
workload    what somebody runs, in a few words
crew        its controllers, pods, budget and service
system      kube-system and what AKS puts beside it
apps        what the cluster's users run
access      roles and bindings
karpenter   what auto-provisioning adds
usage       what the metrics server measures
objects     all of it
settle      what the cluster's controllers make of a change
stagehand   what a scenario says about a cluster's inside
"""
