"""What the page shows, one module for each step."""
