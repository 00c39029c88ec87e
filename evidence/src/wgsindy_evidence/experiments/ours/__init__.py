"""What goes beyond the paper: error bars, verdicts, coarse and uneven steps, noise, datasheets."""
