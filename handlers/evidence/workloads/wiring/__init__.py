"""Who calls whom, and which routes, services and policies lie on the way."""
