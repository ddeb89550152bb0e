"""The workspace as a web page: rendered on the server, updated by one small script."""
