"""From a compact description of a fleet to everything that Azure would hold about it.

strict     read YAML, refuse what is not understood, name the file and the key
fleet      what a fleet description may say
mint       ids and names: the same words always give the same id
clock      `now-35m` and how Azure writes a moment
places     the ids of everything that belongs to one cluster
build      the fleet as a World
inside/    the Kubernetes objects of each cluster
"""
