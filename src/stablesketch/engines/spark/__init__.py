"""Spark: workers fold Arrow batches into collectors, states of kilobytes travel and merge, the driver releases."""
