"""What happens to a call on its way, one matter per module. `handlers.clients.pipe` says in which order."""
