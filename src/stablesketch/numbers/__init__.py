"""Numbers: what counts as one, arrays of them, logarithms with proved errors, and bisection."""
