"""Models whose topics follow Pitman-Yor processes."""
