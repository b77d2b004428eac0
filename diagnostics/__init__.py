"""What judges draws: oracle, calibration, comparison, held-out scores, reports."""
