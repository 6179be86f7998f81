"""Recordings whose truth is known: strides that satisfy the equations of motion, and files made from them."""
