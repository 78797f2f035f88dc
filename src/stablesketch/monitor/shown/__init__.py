"""What a monitor shows, and whom it alerts: released values, and exact counters for this machine only."""
