  // Dirichlet topics need none.
