"""Texts that people read: how arguments are spelt, numbers said, and names that come with data shown."""
