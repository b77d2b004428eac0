"""Models in which a buffet (Indian buffet process) turns topics on."""
