/** The current time; an interface, so that tests can replace it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  nowMs(): number;
  /** ISO 8601 UTC with milliseconds: `2026-11-21T05:54:00.000Z`. */
  nowIso(): string;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  nowIso: () => new Date().toISOString(),
};
