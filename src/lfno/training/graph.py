"""Make a training step faster on a GPU: capture it as a CUDA graph and replay this graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

WARM_UP = 3  # calls of the function before its graph is captured, so that torch has allocated its memory


def replayable(function: Callable[[], None], state: Sequence[Tensor], device: torch.device) -> Callable[[], None]:
    """Return a function with the effect of `function`. On a GPU, each call replays a CUDA graph.

    function: a function that changes tensors in place. It must read and write the same tensors at every call.
    state: the tensors that `function` changes. The capture of the graph calls `function`, and then restores these tensors.
    device: the device of the tensors. On a CPU, `function` itself is returned.
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
