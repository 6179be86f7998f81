"""Results as text: summaries and tables, and the measures in them."""
