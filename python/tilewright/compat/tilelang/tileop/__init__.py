"""`tilelang.tileop`: enumerations of tile statements."""
