"""What one push and one assembly cost, at any length of the run."""
