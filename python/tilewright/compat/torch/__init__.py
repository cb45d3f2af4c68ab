"""torch where it is not installed, or where it finds no GPU."""
