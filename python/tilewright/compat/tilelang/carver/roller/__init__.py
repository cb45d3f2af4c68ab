"""The roller of the carver: its cost models are not part of Tilewright."""
