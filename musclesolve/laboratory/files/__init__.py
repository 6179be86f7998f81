"""Readers of files: C3D, text exports, cameras, B3D, folders of services."""
