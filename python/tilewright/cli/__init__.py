"""The command line: `tw`, the same as `python -m tilewright`."""
