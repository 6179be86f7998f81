"""C3D files: markers, force plates and events as the capture software stored them."""
