"""Engines: each is a `Source` (release/source.py). They fill collectors where the data are, and contain no
mathematics.
"""
