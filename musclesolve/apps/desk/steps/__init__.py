"""Steps of the page, one module for each."""
