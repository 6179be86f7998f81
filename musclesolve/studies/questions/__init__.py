"""Questions about one trial: how weak muscles may become, and what would be otherwise under other conditions."""
