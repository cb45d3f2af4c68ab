# `make run` and `make test` start from a bare Debian 12: they install what is missing (bootstrap),
# build into build/, and go. `make help` lists the rest.

SHELL := /bin/bash
JOBS ?= $(shell nproc)
PYTHON := .venv/bin/python
export LLVM_PREFIX ?= /usr/lib/llvm-22

.DEFAULT_GOAL := help
.PHONY: help run test test-long test-gpu bench asan format lint docs build wheel clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 12

run: build ## run the seed kernel on the CPU at its own size, and on every engine at small ones
	$(PYTHON) examples/seed/run_seed.py

test: build ## every suite and the quick lints; ends with "N passed, N failed"
	@$(PYTHON) scripts/run_tests.py

test-long: build ## the same with the slow tests, the wheels, and a minute of each fuzz target
	@scripts/bootstrap.sh asan browser dask wheel
	cmake --preset asan
	cmake --build build-asan -j $(JOBS) --target tw-fuzzers
	@$(PYTHON) scripts/run_tests.py --long

test-gpu: build ## on a machine with a GPU: run everything there, write a file to send us
	@$(PYTHON) -m tilewright selftest --device $${TILEWRIGHT_GPU:-cuda:0} --root .

bench: ## the figures of benchmarks/
	@scripts/bootstrap.sh bench
	cmake --preset bench
	cmake --build build -j $(JOBS)
	$(PYTHON) benchmarks/run_benchmarks.py

asan: ## unit and lit tests and the adversary's with AddressSanitizer and UBSan, in build-asan/
	@scripts/bootstrap.sh asan
	cmake --preset asan
	cmake --build build-asan -j $(JOBS)
# Debian's libMLIR is not instrumented: it hands out pool memory that our inlined code has poisoned.
	@ASAN_OPTIONS=allow_user_poisoning=0 $(PYTHON) scripts/run_tests.py --build-dir build-asan unit lit adversary

format: ## rewrite C++ and Python in the house style
	@scripts/bootstrap.sh
	@$(PYTHON) scripts/lint.py --fix clang-format ruff ruff-format

lint: build ## the quick lints, and clang-tidy on changed files
	@scripts/bootstrap.sh lint
	@$(PYTHON) scripts/lint.py
	@$(PYTHON) scripts/lint.py clang-tidy

docs: build ## the documentation as a searchable site that needs no network, in build/docs/
	@scripts/bootstrap.sh docs
	@$(PYTHON) scripts/build_docs.py

wheel: build ## the wheels and the source distribution, in dist/
	@scripts/bootstrap.sh wheel
	@CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) $(PYTHON) scripts/build_wheels.py

build: ## bootstrap, configure and compile into build/
	@scripts/bootstrap.sh
	@[ build/build.ninja -nt CMakePresets.json ] || cmake --preset release
	@cmake --build build -j $(JOBS)

clean: ## remove all builds; keeps .venv
	rm -rf build build-debug build-asan build-wheel dist
