"""Pictures of the page, as data for its JavaScript."""
