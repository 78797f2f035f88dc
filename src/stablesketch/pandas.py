"""`import stablesketch.pandas` gives every pandas frame its `df.stablesketch` (frames/on_frame.py)."""

from pandas.api.extensions import register_dataframe_accessor  # type: ignore[import-untyped]

from .frames.on_frame import OnFrame

register_dataframe_accessor("stablesketch")(OnFrame)
