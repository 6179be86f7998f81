"""Text files: TRC, MOT, STO, CSV."""
