"""Builds all Azure resources of a fleet from a compact description.

strict     reads YAML, rejects unknown input, reports the file and the key
fleet      the schema of a fleet description
mint       ids and names: the same input always gives the same id
clock      `now-35m` and Azure's timestamp formats
places     the ids of everything that belongs to one cluster
build      builds the World
inside/    the Kubernetes objects of each cluster
"""
