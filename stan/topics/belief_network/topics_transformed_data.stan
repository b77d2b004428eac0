  // Belief networks need none.
