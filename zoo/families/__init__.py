"""What the models of a family share, a folder a family."""
