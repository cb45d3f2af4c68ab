"""`tilelang.contrib`: what scripts ask of the CUDA tools, answered for the chosen device."""
