"""What the page shows of residuals and simulations."""
