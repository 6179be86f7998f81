"""Readers of text exports: plain tables, and the files of Cortex, D-Flow, Motive, Nexus and Qualisys."""
