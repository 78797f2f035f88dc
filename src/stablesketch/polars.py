"""`import stablesketch.polars` gives every polars frame, lazy or not, its `df.stablesketch` (frames/on_frame.py)."""

from polars.api import register_dataframe_namespace, register_lazyframe_namespace

from .frames.on_frame import OnFrame

register_dataframe_namespace("stablesketch")(OnFrame)
register_lazyframe_namespace("stablesketch")(OnFrame)
