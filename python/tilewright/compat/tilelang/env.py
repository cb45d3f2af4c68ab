"""`tilelang.env`: the settings of TileLang that have a meaning here."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import tilewright
from tilewright.runtime.cache import disable_cache, enable_cache, is_cache_enabled


class Environment:
    """TileLang's settings. Each is read from the environment variable of its name; assigning one
    sets it for this process."""

    _DEFAULTS = {  # noqa: RUF012 - never changed
        "TILELANG_AUTO_TUNING_CPU_COUNTS": "-1",
        "TILELANG_AUTO_TUNING_CPU_UTILITIES": "0.9",
        "TILELANG_AUTO_TUNING_DISABLE_CACHE": "0",
        "TILELANG_AUTO_TUNING_MAX_CPU_COUNT": "-1",
        "TILELANG_CLEANUP_TEMP_FILES": "1",
        "TILELANG_DEFAULT_TARGET": "auto",
        "TILELANG_DISABLE_CACHE": "0",
        "TILELANG_EXECUTION_BACKEND": "auto",
        "TILELANG_PRINT_ON_COMPILATION": "1",
        "TILELANG_VERBOSE": "0",
        "CUDA_HOME": "",
        "ROCM_HOME": "",
    }

    TILELANG_PACKAGE_PATH = Path(tilewright.__file__).parent

    @property
    def TILELANG_CACHE_DIR(self) -> str:
        """Where compiled code is kept."""
        from tilewright._core import core

        return str(core.cache_status()["directory"])

    @property
    def TILELANG_TMP_DIR(self) -> str:
        """Where temporary files are made."""
        import tempfile

        return tempfile.gettempdir()

    def __getattr__(self, name: str) -> Any:
        if name in self._DEFAULTS:
            return os.environ.get(name, self._DEFAULTS[name])
        raise AttributeError(f"tilelang.env has no setting '{name}'")

    def enable_cache(self) -> None:
        """As `tilelang.enable_cache`."""
        enable_cache()

    def disable_cache(self) -> None:
        """As `tilelang.disable_cache`."""
        disable_cache()

    def is_cache_enabled(self) -> bool:
        """As `tilelang.is_cache_enabled`."""
        return is_cache_enabled()

    def is_cache_globally_disabled(self) -> bool:
        """Whether TILELANG_DISABLE_CACHE is set."""
        return _is_set(self.TILELANG_DISABLE_CACHE)

    def is_autotune_cache_disabled(self) -> bool:
        """Whether TILELANG_AUTO_TUNING_DISABLE_CACHE is set."""
        return _is_set(self.TILELANG_AUTO_TUNING_DISABLE_CACHE)

    def is_print_on_compilation_enabled(self) -> bool:
        """False: compiling prints nothing."""
        return False

    def get_default_target(self) -> str:
        """The target where none is given."""
        return str(self.TILELANG_DEFAULT_TARGET)

    def get_default_execution_backend(self) -> str:
        """TILELANG_EXECUTION_BACKEND, which changes nothing here."""
        return str(self.TILELANG_EXECUTION_BACKEND)

    def get_default_verbose(self) -> bool:
        """Whether TILELANG_VERBOSE is set."""
        return _is_set(self.TILELANG_VERBOSE)

    def is_light_import(self) -> bool:
        """False: importing is always light."""
        return False


def _is_set(value: Any) -> bool:
    return str(value).lower() in ("1", "true", "yes", "on")


class CacheState:
    """The cache on disk, as a class with switches."""

    enable = staticmethod(enable_cache)
    disable = staticmethod(disable_cache)
    is_enabled = staticmethod(is_cache_enabled)


env = Environment()

__all__ = ["CacheState", "Environment", "disable_cache", "enable_cache", "env", "is_cache_enabled"]
