"""Shannon's entropy by a sketch, with noise: sketch.py.

noise.py has the noise and measured.py the belief after a release, for exact entropy (mechanism/exact/entropy.py) too.
"""
