"""The lint of large classes: what it counts, and that ours are small."""

from __future__ import annotations

from pathlib import Path

import check_classes
from check_classes import MOST, classes_in, faults_below

ROOT = Path(check_classes.__file__).resolve().parent.parent

SMALL = """
class Small : public Base<int>, private other::Second {
public:
  Small(int x) : x(x) {}          // no method
  ~Small();
  int first() const;
  static Value second(Value a, int b = f(3));
  void third() { if (x) { first(); } }
  template <typename T> T fourth(llvm::function_ref<void(int)> body);
  friend class Other;
  bool operator==(const Small &) const = default;
  using Load = llvm::function_ref<Value(int)>;
  struct Inner { void innerMethod(); int field = compute(1); };
private:
  std::function<void(int)> callback;
  int x = call(2), y{0};
};
enum class Kind { A, B };
"""


def test_methods_are_told_from_fields_and_types() -> None:
    small, inner = classes_in(SMALL, "a.h")
    assert small.methods == ("first", "second", "third", "fourth")
    assert small.bases == ("Base", "Second")
    assert (inner.name, inner.methods) == ("Inner", ("innerMethod",))


def test_methods_of_bases_count(tmp_path: Path) -> None:
    half = MOST // 2 + 1
    methods = "".join(f"  void m{n}();\n" for n in range(half))
    more = "".join(f"  void n{n}();\n" for n in range(half))
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "a.h").write_text(f"struct Base {{\n{methods}}};\n")
    (tmp_path / "lib" / "b.h").write_text(f"class Large : public Base {{\n{more}}};\n")
    expected = f"lib/b.h: Large has {2 * half} methods, expected at most {MOST}"
    assert faults_below(tmp_path) == [expected]


def test_no_class_of_ours_is_too_large() -> None:
    assert faults_below(ROOT) == []
