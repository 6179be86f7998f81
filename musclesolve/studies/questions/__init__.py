"""Questions about one trial: strength margins, scenarios, contributions."""
