"""Azure and Slack on this machine, for people to play with. With `bot.drill` all that knows the sandbox."""
