"""Results as files of other programs: STO, MOT, CSV, MAT, Parquet."""
