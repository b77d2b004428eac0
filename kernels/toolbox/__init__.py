"""What the samplers of several families share: compilation, variates, sides, passes over tokens."""
