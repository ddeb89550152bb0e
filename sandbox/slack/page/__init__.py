"""The workspace in a browser: rendered here, kept fresh by one small script."""
