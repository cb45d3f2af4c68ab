"""What every other package uses: reports of errors, places in source files, TILEWRIGHT_* variables,
hints for misspelt names. It imports no other package."""
