"""Content of the sections of a report: tables, sentences and numbers of datasets."""
