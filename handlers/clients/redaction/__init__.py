"""How secrets look: the published formats of tokens, and the contexts of secrets (assignments, flags, headers)."""
