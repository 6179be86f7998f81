"""The rollover of a truck without, with one and with three occupants (Silva 2003, 4.3 and 4.4)."""
