"""Shannon's entropy by a sketch, with noise: sketch.py. Exact entropy (mechanism/exact/entropy.py) shares noise.py."""
