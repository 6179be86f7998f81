"""What commands print with `--json`: dicts whose keys are described in docs/command_line.md and stay as they are."""
