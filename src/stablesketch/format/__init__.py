"""Bytes and JSON that may come from anywhere: the frame of all blobs, and JSON that is read with care."""
