"""Run a function that only changes tensors in place: directly on a CPU, as a replayed CUDA graph on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

WARM_UP = 3


def replayable(function: Callable[[], None], state: Sequence[Tensor], device: torch.device) -> Callable[[], None]:
    """Return a function that does the same as `function`. On a GPU, every call from the second on is one graph launch.

    function: must read and write the same tensors at every call.
    state: the tensors that `function` changes. Capturing a graph needs trial calls; `state` is restored after them.
    device: where the tensors are. On a CPU, `function` itself is returned.
    """
    if device.type != "cuda":
        return function
    before = [tensor.clone() for tensor in state]
    stream = torch.cuda.Stream(device)
    stream.wait_stream(torch.cuda.current_stream(device))
    with torch.cuda.stream(stream):
        for _ in range(WARM_UP):
            function()
    torch.cuda.current_stream(device).wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        function()
    with torch.no_grad():
        for tensor, value in zip(state, before, strict=True):
            tensor.copy_(value)
    return graph.replay
