"""Cost functions: each a small class in its own file; sums and positive multiples of costs are costs."""
