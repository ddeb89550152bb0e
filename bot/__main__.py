"""`python -m bot` is `aksbot`."""

from bot.cli import main

main()
