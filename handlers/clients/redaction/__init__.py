"""How secrets look: the published formats of tokens, and the places where secrets stand (assignments, flags, headers)."""
