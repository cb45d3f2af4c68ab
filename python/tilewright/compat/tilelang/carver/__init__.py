"""What scripts ask the carver about the device; its cost models are not part of Tilewright."""
