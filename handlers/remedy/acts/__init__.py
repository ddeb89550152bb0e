"""One verb per file, carried out in pieces that another worker can continue. Only the executor calls them."""
