"""Topics of sentences: each has weights of its own over the dishes (topic vectors) of its document."""
