"""What several parts need and none owns: runs of a mask, resampling, processes, interrupts, file locks."""
