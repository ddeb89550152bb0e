"""The kinds of Azure Service Operator that a cluster here can have."""

KINDS = {
    "Disk": ("compute", "20240302", "disks"),
    "FlexibleServer": ("dbforpostgresql", "20240801", "flexibleservers"),
    "FlexibleServersDatabase": ("dbforpostgresql", "20240801", "flexibleserversdatabases"),
    "ManagedCluster": ("containerservice", "20240901", "managedclusters"),
    "ManagedClustersAgentPool": ("containerservice", "20240901", "managedclustersagentpools"),
    "Redis": ("cache", "20241101", "redis"),
    "RedisLinkedServer": ("cache", "20241101", "redislinkedservers"),
    "Registry": ("containerregistry", "20230701", "registries"),
    "ResourceGroup": ("resources", "20200601", "resourcegroups"),
    "RoleAssignment": ("authorization", "20220401", "roleassignments"),
    "StorageAccount": ("storage", "20230101", "storageaccounts"),
    "UserAssignedIdentity": ("managedidentity", "20230131", "userassignedidentities"),
    "VirtualNetwork": ("network", "20240301", "virtualnetworks"),
}
"""Group, api-version and plural of each kind. The operator can define many more; who installs it picks them."""
