"""Models of labelled documents over a fixed number of topics."""
