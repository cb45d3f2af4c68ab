"""Statements of correct kernels that can go without anybody noticing, and why.

Program -> mutant -> reason. A bounds predicate that never skips anything in the launch at hand is
recognised by `mutants.py` itself (it probes) and needs no entry. Everything else that an exhaustive
operator removes unnoticed must stand here, or the test fails; so must nothing that is noticed.
"""

REDUNDANT: dict[str, dict[str, str]] = {}
