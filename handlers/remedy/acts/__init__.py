"""One verb a file, each carried out in pieces that another worker can carry on with. Only the executor calls them."""
