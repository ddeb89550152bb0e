"""What workloads are made of, in the namespaces where something is unwell.

First a cheap sweep of the whole cluster (`unwell`); then these facts, for the namespaces that it names and no others:

containers  what a container asks for and how it fares     pods       pods, with their containers and volumes
owners      deployments, replica sets, jobs and the like   services   services and what stands behind them
wiring      who calls whom; ingresses, network policies    storage    claims, volumes, classes, attachments
limits      quotas, limit ranges, service accounts         webhooks   admission webhooks
warnings    events other than Normal                       logs       last lines of containers
"""
