"""`tilelang.metal`: GPUs of Apple, for which nothing is compiled here."""
