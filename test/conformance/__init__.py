"""Every operation of the language on every dtype and engine, against references of its own."""
