"""Questions about Azure Service Operator (ASO)."""
