"""What several ways to measure have in common: states, beliefs, noise, and the layout of entries."""
