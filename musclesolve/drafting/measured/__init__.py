"""What the numbers of a recording show: axes, feet on plates, size of the subject, muscles of EMG."""
