"""Azure and Slack on this machine, for people. Besides `bot.drill`, the only package that imports the sandbox."""
