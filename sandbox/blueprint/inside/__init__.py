"""Builds a cluster's Kubernetes objects from its description and its VMs.

scene       shared by all objects of one cluster: ids, timestamps, metadata
nodes       one Node and Lease per VM
seats       which node a pod runs on, and its address
workload    the compact description of a workload
crew        its controllers, pods, budget and service
system      kube-system and AKS's other namespaces
apps        the users' workloads
access      roles and bindings
karpenter   node auto-provisioning
service_operator  Azure Service Operator: its definitions and its controller
usage       metrics server data
objects     combines all of them
settle      simulates the cluster's controllers after a change
stagehand   applies a scenario's changes to a cluster
"""
