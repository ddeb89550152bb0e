"""Generated worlds: clusters of many shapes as wire bodies, each generated from a seed.

    shape       the properties of one cluster, drawn from a seed
    ids         ids and names of its resources
    network, pools, machines, cluster, governance, past    its Azure resources
    nodes, inside                                          its Kubernetes objects
    build       all of it, as a sandbox world
    answering   the sandbox's responses without sockets
    expecting   the expected outcome of a check
    planted     causes and failures added to one; `named` has Azure's errors for them

The sandbox serves them, so new requests of collectors are validated here too: versions, filters, paging, permissions.
"""
