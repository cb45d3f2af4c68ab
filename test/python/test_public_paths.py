"""Modules that users import as `tilewright.NAME` are those of the packages, loaded once."""

from __future__ import annotations

import pickle
import subprocess
import sys
from importlib import import_module

import pytest
import tilewright


@pytest.mark.parametrize("name", tilewright.PUBLIC)
def test_a_public_module_is_the_module_of_its_package(name: str) -> None:
    public = import_module(f"tilewright.{name}")
    assert public is import_module(f"tilewright.{tilewright.PUBLIC[name]}")
    assert public is getattr(tilewright, name)
    assert public.__spec__.name == f"tilewright.{tilewright.PUBLIC[name]}"


@pytest.mark.parametrize("name", [n for n in tilewright.PUBLIC if n != "layout"])
def test_it_is_the_module_of_tilelangs_name_too(name: str) -> None:
    assert import_module(f"tilelang.{name}") is import_module(f"tilewright.{name}")


def test_it_is_an_attribute_before_anything_imports_it() -> None:
    code = "import tilewright; print(tilewright.device.__name__, tilewright.vgpu.__name__)"
    shown = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert shown == "tilewright.runtime.device tilewright.runtime.vgpu\n"


def test_modules_below_an_alias_are_not_loaded_again() -> None:
    import tilewright.autotuner.tuner

    assert tilewright.autotuner.tuner is sys.modules["tilewright.runtime.tuner.tuner"]
    with pytest.raises(ModuleNotFoundError, match="none_such"):
        import_module("tilewright.autotuner.none_such")


def test_packages_of_ours_are_not_tilelangs() -> None:
    with pytest.raises(tilewright.TilewrightError, match="is not supported yet"):
        import_module("tilelang.runtime")


def test_exceptions_say_the_module_that_users_import() -> None:
    assert tilewright.TilewrightError.__module__ == "tilewright.errors"
    assert tilewright.findings.FindingsError.__module__ == "tilewright.findings"
    assert pickle.loads(pickle.dumps(tilewright.TilewrightError)) is tilewright.TilewrightError


def test_importing_the_package_loads_little() -> None:
    code = "import sys, tilewright; print(*sorted(m for m in sys.modules if 'tilewright' in m))"
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    parts = ["aliases", "environment", "errors"]
    expected = ["tilewright", *(f"tilewright.support.{part}" for part in parts)]
    assert loaded == sorted([*expected, "tilewright.support"])
    code = "import sys, tilewright; print('numpy' in sys.modules, 'importlib.abc' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False False\n"
