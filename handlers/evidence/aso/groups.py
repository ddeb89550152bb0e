"""The API groups of Azure Service Operator: a role names them one by one, as RBAC knows no `*.azure.com`.

From its page of supported resources. Which of them a cluster has, its CustomResourceDefinitions tell; a group that
is newer than this list is asked for, too, and a refusal names what to grant.
"""

from __future__ import annotations

ASO_GROUPS = tuple(
    f"{name}.azure.com"
    for name in (
        *("alertsmanagement", "apimanagement", "app", "appconfiguration", "authorization", "batch", "cache", "cdn"),
        *("cognitiveservices", "communication", "compute", "containerinstance", "containerregistry"),
        *("containerservice", "datafactory", "dataprotection", "dbformariadb", "dbformysql", "dbforpostgresql"),
        *("devices", "documentdb", "entra", "eventgrid", "eventhub", "insights", "keyvault"),
        *("kubernetesconfiguration", "kusto", "machinelearningservices", "managedidentity", "monitor", "network"),
        *("network.frontdoor", "notificationhubs", "operationalinsights", "quota", "redhatopenshift", "resources"),
        *("search", "servicebus", "signalrservice", "sql", "storage", "subscription", "synapse", "web"),
    )
)
EVERY_KIND = tuple(f"list *.{group}" for group in ASO_GROUPS)
"""What a collector declares that reads every kind of them."""
