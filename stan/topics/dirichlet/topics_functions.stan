// Dirichlet topics have no functions beside those of Dirichlet variables.
