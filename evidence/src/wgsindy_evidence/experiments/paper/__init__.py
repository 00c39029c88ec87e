"""What the paper claims, measured again."""
