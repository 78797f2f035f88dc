"""What a monitor holds and hands on: its state in a folder, the windows that take rows, the records of the others."""
