"""Mutation of our own lowerings: does a test fail if the compiler is wrong?"""
