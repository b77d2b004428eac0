"""Documents whose labels say which topics they may have, or how likely each is in them."""
