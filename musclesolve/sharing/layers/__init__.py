"""Force sharing as a layer of PyTorch and JAX: problems in, forces out, and exact gradients back."""
