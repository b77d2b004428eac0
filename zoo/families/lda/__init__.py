"""Models with a fixed number of topics and Dirichlet documents."""
