"""Public recordings and models of many laboratories: what is drafted, found and computed without a hand."""
