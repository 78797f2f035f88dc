"""Reading: files, streams, queries and data frames to Arrow batches of checked columns, and nothing else."""
