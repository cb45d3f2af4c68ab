"""`tilelang.rocm`: GPUs of AMD, for which nothing is compiled here."""
