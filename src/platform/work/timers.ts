/** Time as something that a test can replace. */
export interface Timers {
  nowMs(): number;
  /** Runs the action once, after so many milliseconds; returns what cancels it. */
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
