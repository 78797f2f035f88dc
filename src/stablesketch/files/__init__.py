"""Files that survive a crash: written durably, locked, known by their identity; and why SQLite failed."""
