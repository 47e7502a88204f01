/** Time and timers; an interface, so that tests can replace them. */
export interface Timers {
  nowMs(): number;
  /** Runs the action once, after `ms` milliseconds; returns a function that cancels it. */
  after(ms: number, action: () => void): () => void;
}

export const systemTimers: Timers = {
  nowMs: () => Date.now(),
  after(ms, action) {
    const timer = setTimeout(action, ms);
    return () => {
      clearTimeout(timer);
    };
  },
};
