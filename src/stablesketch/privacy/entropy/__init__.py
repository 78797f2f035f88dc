"""Shannon's entropy: by how much neighbours differ, and the noise of its mass."""
