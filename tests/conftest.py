import pytest
import torch


@pytest.fixture(autouse=True)
def one_thread():
    """Small tensors are faster on one thread, and the same bits need the same number of them."""
    torch.set_num_threads(1)
