"""Derivatives of joint moments by errors of their inputs, exact."""
