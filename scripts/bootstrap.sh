#!/usr/bin/env bash
# Installs what the build needs and this machine lacks: Debian packages, and a virtual environment
# .venv with the pinned packages of requirements.txt. Silent when nothing is missing.
#
#   usage: scripts/bootstrap.sh [asan] [bench] [browser] [dask] [docs] [lint] [mutants] [wheel]   extra package groups
#   env:   TILEWRIGHT_SKIP_APT=1   the Debian packages are taken care of elsewhere
#
# The environment is made with Debian's own python3, because the extension module is compiled against
# python3-dev; the first python3 on PATH may be another one.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$root/.venv
python=/usr/bin/python3

packages=(
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools # MLIR, mlir-tblgen, LLVM, lit and FileCheck
  clang-22 lld-22 libstdc++-12-dev ccache cmake ninja-build
  clang-format-22 libgtest-dev
  g++ pkg-config # tests build C and C++ programs against exported kernels
  python3 python3-venv python3-dev
)
extra_requirements=()
for group in "$@"; do
  case $group in
    asan) packages+=(libclang-rt-22-dev) ;; # sanitizer and libFuzzer run times
    bench) packages+=(libbenchmark-dev) ;;
    browser) packages+=(chromium-headless-shell fonts-dejavu-core) ;; # tests of reports click through them
    dask) extra_requirements+=(requirements-dask.txt) ;; # tuning on a cluster of processes
    docs) # Sphinx, from PyPI, and Doxygen for the C++ headers
      packages+=(doxygen)
      extra_requirements+=(requirements-docs.txt)
      ;;
    lint) packages+=(clang-tidy-22) ;;
    mutants) packages+=(libclang1-22); extra_requirements+=(requirements-mutants.txt) ;; # clang's syntax tree
    wheel) packages+=(zlib1g-dev libzstd-dev debootstrap) ;; # archives that LLVM needs; trees to try wheels in
    *) echo "bootstrap: unknown group '$group' (known: asan, bench, browser, dask, docs, lint, mutants, wheel)" >&2; exit 2 ;;
  esac
done

fail() {
  printf 'bootstrap: error: %s\n' "$1" >&2
  shift
  [ $# -eq 0 ] || printf '    %s\n' "$@" >&2
  exit 1
}

# long_step LABEL COMMAND...: runs COMMAND with its output in a log, says what takes time, counts the
# seconds (in place on a terminal, every 30 s elsewhere), and shows the log's end if it fails.
long_step() {
  local label=$1 start=$SECONDS log status=0
  shift
  log=$(mktemp)
  echo "bootstrap: $label ..."
  "$@" >"$log" 2>&1 </dev/null 9<&- &
  local pid=$!
  trap 'kill "$pid" 2>/dev/null || true; rm -f "$log"' EXIT
  while kill -0 "$pid" 2>/dev/null; do
    sleep 1
    if [ -t 1 ]; then
      printf '\r           %d s ' $((SECONDS - start))
    elif (((SECONDS - start) % 30 == 29)); then
      echo "           $((SECONDS - start)) s"
    fi
  done
  wait "$pid" || status=$?
  if [ -t 1 ]; then printf '\r\033[K'; fi
  if [ "$status" -ne 0 ]; then
    tail -n 15 "$log" >&2
  else
    echo "           done in $((SECONDS - start)) s"
  fi
  trap - EXIT
  rm -f "$log"
  return "$status"
}

missing_packages() {
  local installed package
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p')
  for package in "${packages[@]}"; do
    grep -qxF -- "$package" <<<"$installed" || echo "$package"
  done
}

install_packages() {
  [ "${TILEWRIGHT_SKIP_APT:-}" != 1 ] || return 0
  command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
    fail "this is not a Debian system; install the equivalents of these packages and set TILEWRIGHT_SKIP_APT=1" \
      "${packages[*]}"
  local missing as_root=()
  read -r -a missing <<<"$(missing_packages | tr "\n" " ")"
  [ ${#missing[@]} -gt 0 ] || return 0
  local by_hand="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null && { sudo -n true 2>/dev/null || { [ -t 0 ] && sudo -v; }; } ||
      fail "Debian packages are missing, and only root can install them; as root, run" "$by_hand"
    as_root=(sudo)
  fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive)
  long_step "reading Debian's package lists" "${as_root[@]}" apt-get update -q ||
    fail "the package lists could not be read (no network?); when they can, run" "$by_hand"
  local name policy
  for name in "${missing[@]}"; do
    policy=$(LC_ALL=C apt-cache policy "$name")
    [[ $policy =~ Candidate:\ [^\(] ]] ||
      fail "no package source of this machine has '$name'; Tilewright builds on Debian 12 with its" \
        "security updates (suite bookworm-security, which carries LLVM 22)"
  done
  long_step "installing Debian packages, a minute or two for all: ${missing[*]}" \
    "${as_root[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}" ||
    fail "the packages could not be installed (no network?); by hand:" "$by_hand"
}

# What the environment was made from. A moved checkout or another python makes a new one.
fingerprint() {
  { echo "$root $(readlink -f "$python")"; cat "$root/scripts/requirements.txt" "${BASH_SOURCE[0]}"; } |
    sha256sum | cut -d' ' -f1
}

# The checkout's own package, its extension module (CMake writes it to build/python), and `tw`.
link_checkout() {
  local site
  site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  printf '%s\n' "$root/python" "$root/build/python" >"$site/tilewright.pth"
  printf '#!/bin/sh\nexec "%s/bin/python" -m tilewright "$@"\n' "$venv" >"$venv/bin/tw"
  chmod +x "$venv/bin/tw"
}

install_environment() {
  local stamp=$venv/.bootstrap-stamp wanted
  wanted=$(fingerprint)
  [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ] || return 0
  [ -x "$python" ] || fail "$python is missing; it comes with Debian's python3"
  if [ "$(readlink -f "$venv/bin/python" 2>/dev/null)" != "$(readlink -f "$python")" ] ||
    ! grep -qsF "$venv" "$venv/bin/pip"; then
    rm -rf "$venv"
    "$python" -m venv "$venv" || fail "'$python -m venv' failed; it needs Debian's python3-venv"
  fi
  long_step "installing the Python packages of scripts/requirements.txt into .venv" \
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --no-deps \
    -r "$root/scripts/requirements.txt" ||
    fail "pip could not install (no network?); when it can, run again, or by hand" \
      ".venv/bin/python -m pip install --no-deps -r scripts/requirements.txt"
  link_checkout
  rm -f "$stamp"-* # a new environment has no extra packages
  echo "$wanted" >"$stamp"
}

# The packages of a group, such as docs, into the same environment.
install_extra() {
  local file=$1 stamp=$venv/.bootstrap-stamp-$1 wanted
  wanted=$(sha256sum <"$root/scripts/$file")
  [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ] || return 0
  long_step "installing the Python packages of scripts/$file into .venv" \
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --no-deps \
    -r "$root/scripts/$file" ||
    fail "pip could not install (no network?); when it can, run again, or by hand" \
      ".venv/bin/python -m pip install --no-deps -r scripts/$file"
  echo "$wanted" >"$stamp"
}

# Two makes at once take turns. (The lock is on this file, so that it leaves no other file.)
if command -v flock >/dev/null; then
  exec 9<"${BASH_SOURCE[0]}"
  flock 9
fi
install_packages
install_environment
for file in "${extra_requirements[@]}"; do
  install_extra "$file"
done
