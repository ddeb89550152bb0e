"""What is read only because somebody asked about it: a path, a service account, an address."""
