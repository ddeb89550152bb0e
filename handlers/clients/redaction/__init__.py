"""How secrets look: the published formats of tokens, and where secrets stand (assignments, flags, headers)."""
