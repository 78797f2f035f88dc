"""Spark: workers fold Arrow batches into collectors, states of some kilobytes are merged, and the driver releases."""
