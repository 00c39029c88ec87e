"""What is fitted: trajectories in memory or streamed, cut into chunks."""
