"""`import stablesketch.polars` gives every frame of polars its `df.stablesketch` (frames.py)."""

from polars.api import register_dataframe_namespace

from .frames import OnFrame

register_dataframe_namespace("stablesketch")(OnFrame)
