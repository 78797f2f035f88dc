"""Engines: they run `Collector.update` and `merge` where the data are. They contain no mathematics."""
