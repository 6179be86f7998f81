"""What the sections of a report say: tables, sentences and numbers of datasets."""
