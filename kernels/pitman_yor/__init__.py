"""Samplers of topics under Pitman-Yor processes."""
