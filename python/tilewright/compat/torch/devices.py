"""Which of torch's tensors are on "cuda", where all of them are in main memory.

A `TorchFunctionMode` sees the calls of torch. It makes in main memory what a program wants on
"cuda", and notes on each tensor that was made without it that it is the host's. Moving a tensor
from one to the other copies it, as between two memories: a kernel that writes `a.cuda()` leaves
`a` alone. A tensor that the mode has not seen counts as on the device, since libraries refuse
tensors of the host: torch switches the mode off inside operators that are written in Python and in
its backward pass. There, functions that take a device are replaced by ones that take "cuda" for
main memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import wraps
from typing import Any


def is_cuda(torch: Any, value: Any) -> bool:
    """Whether `value` names the device."""
    if isinstance(value, torch.device):
        return value.type == "cuda"
    return isinstance(value, str) and (value == "cuda" or value.startswith("cuda:"))


def _is_host(torch: Any, value: Any) -> bool:
    if isinstance(value, torch.device):
        return value.type == "cpu"
    return isinstance(value, str) and value == "cpu"


def on_host(tensor: Any) -> bool:
    """Whether a tensor is the host's."""
    return getattr(tensor, "_is_of_host", False)


#: The modes that are switched on: one, in a process that runs a program for a GPU without one.
_active: list[Any] = []


def is_active() -> bool:
    """Whether tensors in main memory stand for those of a GPU."""
    return bool(_active)


def in_main_memory(torch: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments with main memory in place of the device."""
    return tuple("cpu" if is_cuda(torch, value) else value for value in args)


def named_in_main_memory(torch: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The same for named arguments; all memory is pinned to the host."""
    given = {name: value for name, value in kwargs.items() if name != "pin_memory"}
    return {name: "cpu" if is_cuda(torch, value) else value for name, value in given.items()}


def _tensors(torch: Any, values: Any) -> Iterator[Any]:
    """The tensors among values, and in lists of them."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif type(value) in (list, tuple):
            yield from _tensors(torch, value)


def make_mode(torch: Any) -> Any:
    """The mode, for functions that are replaced already; entering it switches it on."""
    from torch.overrides import TorchFunctionMode

    tensor = torch.Tensor
    to, to_cuda, to_cpu = tensor.to, tensor.cuda, tensor.cpu
    moves = {to_cuda: "cuda", to_cpu: "cpu", to: None}

    def wanted_device(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
        if moves.get(func) is not None:
            return moves[func]
        named = [kwargs.get("device")]
        named += [value for value in args if isinstance(value, torch.device)]
        if func is to:
            named += [value for value in args[1:] if isinstance(value, str)]
            named += [value.device for value in args[1:] if isinstance(value, tensor)]
        for value in named:
            if is_cuda(torch, value):
                return "cuda"
            if _is_host(torch, value):
                return "cpu"
        return None

    def call(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if func is to_cuda:
            return args[0]
        if func is tensor.pin_memory:
            return args[0].clone()
        return func(*in_main_memory(torch, args), **named_in_main_memory(torch, kwargs))

    class CudaInMainMemory(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            if func is torch.device:  # a name stays what it is
                return func(*args, **kwargs)
            wanted = wanted_device(func, args, kwargs)
            inputs = list(_tensors(torch, [*args, *kwargs.values()]))
            result = call(func, args, kwargs)
            if func in moves:
                source = args[0]
                goes = wanted is not None and (wanted == "cpu") != on_host(source)
                if goes and result is source:
                    result = source.clone()
                is_host = wanted == "cpu" if wanted else on_host(source)
            else:
                is_host = wanted == "cpu" or (
                    wanted is None and all(on_host(value) for value in inputs)
                )
            for made in _tensors(torch, [result]):
                if not any(made is value for value in inputs):
                    made._is_of_host = is_host
            return result

    _active.append(CudaInMainMemory())
    return _active[0]


#: Functions of torch, and methods of its tensors, that take a device.
_MAKERS = """
    arange as_tensor asarray empty empty_like empty_strided eye full full_like linspace logspace
    ones ones_like rand rand_like randint randint_like randn randn_like randperm scalar_tensor
    tensor tril_indices triu_indices zeros zeros_like
""".split()
_METHODS = "to cuda cpu new_empty new_full new_ones new_tensor new_zeros".split()


def replace_functions(torch: Any) -> None:
    """Lets tensors say where they are, and functions take "cuda" where the mode is switched off."""
    cpu, cuda = torch.device("cpu"), torch.device("cuda:0")
    real_device = torch.Tensor.device.__get__
    is_disabled = getattr(torch._C, "_is_torch_function_all_disabled", lambda: False)

    def device(self: Any) -> Any:
        if real_device(self).type != "cpu":  # of a tensor without memory
            return real_device(self)
        return cpu if on_host(self) else cuda

    def replaced(function: Any) -> Any:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if torch._C._len_torch_function_stack() == 0 or is_disabled():
                args, kwargs = in_main_memory(torch, args), named_in_main_memory(torch, kwargs)
                if call.__name__ == "cuda":
                    return args[0]
            return function(*args, **kwargs)

        return call

    for name in _MAKERS:
        setattr(torch, name, replaced(getattr(torch, name)))
    for name in _METHODS:
        setattr(torch.Tensor, name, replaced(getattr(torch.Tensor, name)))
    torch.Tensor.device = property(device)
    torch.Tensor.is_cuda = property(lambda self: device(self).type == "cuda")
    torch.Tensor.get_device = lambda self: 0 if device(self).type == "cuda" else -1
