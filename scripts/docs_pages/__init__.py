"""What `make docs` makes from the program: pages of reference, chapters, the index of examples."""
