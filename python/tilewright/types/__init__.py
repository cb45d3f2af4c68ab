"""The nouns that the language and the runtime share: element types, tensor types, parameters of
kernels, layouts."""
