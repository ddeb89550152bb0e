"""What Azure's built-in roles are called: the log has only their ids, which are the same in every tenant."""

from __future__ import annotations

from handlers.resource_id import last_name

_NAMES = {
    "8e3af657a8ff443ca75c2fe8c4bcb635": "Owner",
    "b24988ac618042a0ab8820f7382dd24c": "Contributor",
    "acdd72a7338548efbd42f606fba81ae7": "Reader",
    "18d7d88dd35e4fb5a5c37773c20a72d9": "User Access Administrator",
    "4d97b98b1d4f4787a291c67834d212e7": "Network Contributor",
    "9980e02cc2be4d7394e8173b1dc7cf3c": "Virtual Machine Contributor",
    "f1a07417d97a45cb824c7a7467783830": "Managed Identity Operator",
    "7f951dda4ed34680a7ca43fe172d538d": "AcrPull",
    "8311e382074945b8b61a304f252e45ec": "AcrPush",
    "b12aa53e6015466985d08515ebb3ae7f": "Private DNS Zone Contributor",
    "43d0d8ad25c7471493378ba259a9fe05": "Monitoring Reader",
    "4633458b17de408ab8740445c86b69e6": "Key Vault Secrets User",
    "ba92f5b42d11453da403e96b0029c9fe": "Storage Blob Data Contributor",
    "b1ff04bb8a4e4dc48eb58693973ce19b": "Azure Kubernetes Service RBAC Cluster Admin",
    "3498e952d568435e9b2c8d77e338d7f7": "Azure Kubernetes Service RBAC Admin",
    "a7ffa36f339b4b5c8bdfe2c188b2c0eb": "Azure Kubernetes Service RBAC Writer",
    "7f6c6a51bcf842ba922052d62157d7db": "Azure Kubernetes Service RBAC Reader",
    "0ab0b1a88aac4efdb8c23ee1fb270be8": "Azure Kubernetes Service Cluster Admin Role",
    "4abbcc35e78243d892c52d3f1bd2253f": "Azure Kubernetes Service Cluster User Role",
    "ed7f3fbd7b884dd490179adb7ce333f8": "Azure Kubernetes Service Contributor Role",
}


def role_name(definition: str) -> str:
    """`Reader`; an id that is none of Azure's own stays one, so that somebody can look it up."""
    own = last_name(definition)
    return _NAMES.get(own.replace("-", "").lower(), f"role {own}")
