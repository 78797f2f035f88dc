"""What entries reveal that are published without noise: the loss of one, on a lattice, added up."""
