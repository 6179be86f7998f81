"""Foreign models beside the programs they were made for."""
