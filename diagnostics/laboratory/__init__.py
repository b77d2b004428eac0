"""The ladder of evidence: its rungs, what stands on them, and the verdicts."""
