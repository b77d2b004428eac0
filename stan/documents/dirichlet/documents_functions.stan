// Dirichlet documents have no functions beside those of Dirichlet variables.
