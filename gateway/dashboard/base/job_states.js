// The states of a job, in the order in which they are shown.
export const QUEUED = ["pending", "scheduled", "waiting", "blocked"];
export const HELD = ["claimed", "running"];
export const REOPENED = ["failed", "cancelled"];
export const ENDED = ["completed", ...REOPENED];
export const OPEN = [...QUEUED, ...HELD];
