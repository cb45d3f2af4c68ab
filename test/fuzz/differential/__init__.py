"""Differential fuzzing: random tile programs, run on every engine and compared.

    program.py      what a program consists of, and how its parts print as Python
    ranges.py       which values its parts can have; decides whether a program is exact
    indices.py      random indices, in and out of bounds
    expressions.py  random scalar expressions
    statements.py   random tile statements
    generator.py    random programs: tensors, grid, tiles, statements
    threads.py      random programs that name their threads
    values.py       random programs of values of every dtype
    composed.py     random programs of statements on every form of operand
    pipelines.py    random programs of pipelined loops, bulk copies and products
    blocks.py       random programs whose blocks talk
    kinds.py        the kinds: what a seed stands for
    lockstep.py     what a program of threads means, in numpy
    meaning.py      what a program of values means, by typed_numbers.py
    emit.py         a program as a Python file that can be read and run by itself
    witnesses.py    the engines, what each says of a program, and whether they agree
    shrink.py       from a failing program to a small one that fails alike
    campaign.py     many seeds, in processes that may crash or hang
    __main__.py     the command line

A program is a function of its seed. `python test/fuzz/differential --seed 17 --print` shows one.
"""
