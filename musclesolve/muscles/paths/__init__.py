"""Muscle paths over points and wrap objects: lengths, gradients and their derivatives."""
