"""The speed of the CPU backend beside that of libraries; bench_cpu.py runs and prints it."""
