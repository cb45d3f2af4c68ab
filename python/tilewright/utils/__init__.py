"""Helpers of scripts, under TileLang's names."""
