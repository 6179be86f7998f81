"""What a moving picture of a result is drawn from: points of the skeleton and of the muscle paths."""
