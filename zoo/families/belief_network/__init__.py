"""Models whose topics are the first layer of a Dirichlet belief network."""
