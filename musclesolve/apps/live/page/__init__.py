"""The live page: the subject in motion, curves, steps and biofeedback in a browser of the same computer."""
