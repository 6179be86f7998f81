"""Questions about markers: labels, sides, slips, gaps, standing trial."""
