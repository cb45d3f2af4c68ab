"""`tilelang.cuda`: layouts that scripts take from there."""
