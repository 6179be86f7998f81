"""From an analysed recording back to its motion: forces, feedback and drift of a simulation driven by muscles."""
