"""`tilelang.engine`: hooks into a code generator that writes source text; there is none here."""
