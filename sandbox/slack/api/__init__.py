"""The methods of the Web API that a bot calls."""
