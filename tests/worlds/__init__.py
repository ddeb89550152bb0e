"""Generated worlds: clusters of many shapes as wire bodies, each made from a number alone.

    shape       what one cluster is, in a few words; drawn from a seed
    ids         what its resources are called
    network, pools, machines, cluster, governance, past    its bodies in Azure
    nodes, inside                                          its objects in Kubernetes
    build       all of it, as the sandbox holds it
    answering   the sandbox's answers without its sockets
    expecting   what a check of it must end as
    planted     causes and failures that are put into one; `named` are the errors that Azure gives for them

The sandbox answers, so that what a collector asks anew is strict here too: versions, filters, paging, permissions.
"""
