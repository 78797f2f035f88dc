"""`df.stablesketch`: methods of the frames of pandas and polars, whichever is imported first."""
