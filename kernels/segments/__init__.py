"""Topics of sentences, by tables and dishes."""
