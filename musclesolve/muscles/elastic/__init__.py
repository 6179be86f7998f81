"""Muscles with elastic tendons: smooth curves, tendon curves, and the balance of fiber and tendon."""
