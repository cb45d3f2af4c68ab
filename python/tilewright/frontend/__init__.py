"""From a Python function to tile IR.

    syntax.py      refuses what a kernel cannot contain, with the line
    jumps.py       makes `break`, `continue` and early `return` into guards
    liveness.py    which names are needed after a statement
    rewrite.py     turns statements into calls of the hooks (rewrite_expr.py: expressions)
    hooks.py       what rewritten code calls: each hook asks "Python value or kernel value?"
    branches.py, loops.py, jump_state.py   the hooks with state: `if`, `for`/`while`, flags
    carried.py     names that live longer than an iteration of a loop
    trace.py       the active trace; scalars and their types
    twins.py       makes the rewritten twin of a function object, once for each code object
    explain.py     runs a trace and turns what goes wrong into a report
    functions.py, macro.py, eager.py   `T.prim_func`, `T.macro`, kernels without a prim_func
    vocabulary.py  the language's functions by name, for hints

Python holds no compiler logic: the hooks decide which of the core's builder calls to make.
"""
