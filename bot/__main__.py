"""`python -m bot` is `aksbot`."""

from bot.cli.main import main

main()
