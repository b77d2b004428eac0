"""Topics of groups."""
