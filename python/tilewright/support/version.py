"""The version of this package; pyproject.toml and CMakeLists.txt say the same."""

__version__ = "0.1.0"
