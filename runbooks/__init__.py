"""The runbooks: one Markdown file per finding code, and the code that reads and checks them."""
