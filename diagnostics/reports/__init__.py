"""Reports of fits and of verdicts, and their plots."""
