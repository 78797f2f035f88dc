"""What a monitor reads: lines of a pipe or of a file that is followed, as blocks, and the rows made from them."""
