"""Models outside Python: one step of the recurrence as plain arrays, as C99 and as a functional mock-up unit."""
