"""Engines: ways to run `Collector.update` and `merge` where the data are. No mathematics here."""
