"""The report of a result and its moving picture: pages that stand alone."""
