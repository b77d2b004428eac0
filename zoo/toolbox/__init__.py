"""What several families share: variates, laws of assignments, enumeration, blocks of references."""
