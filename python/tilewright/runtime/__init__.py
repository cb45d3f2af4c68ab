"""From a traced function to results: compile, check arguments, run on a device, verify, time, tune.

    jitting.py, jit_form.py          `tilewright.jit` and `compile`: which kernel a call means
    kernel.py, kernel_texts.py       a compiled kernel: calls, remarks, IR, PTX
    device.py                        cpu, vgpu:sm_XX, cuda: which one runs a kernel
    arguments.py, packing.py         tensors and numbers of a call, as the C++ side takes them
    findings.py, verify.py           what the virtual GPU found; comparison with the interpreter
    supply.py, made_up.py            inputs for kernels that got none
    profiler.py, tuner/              times, and the best of several configurations
    vgpu.py, ptxas.py                any PTX text on the virtual GPU, or through NVIDIA's assembler
    cache.py, pass_config.py         the cache on disk; options of the passes

What is decided about a program is decided in C++; this package converts and reports.
"""
