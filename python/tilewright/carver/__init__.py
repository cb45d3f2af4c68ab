"""What scripts ask TileLang's carver about the device; its cost models are not part of Tilewright."""
