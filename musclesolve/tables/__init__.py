"""Files of numbers and of settings: text tables (MOT, STO, TRC), units, TOML documents with checked keys."""
