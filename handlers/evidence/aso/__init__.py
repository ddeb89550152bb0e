"""What Azure Service Operator (ASO) says of the Azure resources that it manages from this cluster."""
