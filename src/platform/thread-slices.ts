/**
 * How many milliseconds a thread has a processor at a time, where others want it, too (docs/decisions/0209). What a thread has of it over
 * time is the same: that is its niceness. Linux from 6.12 on; elsewhere a niceness is all there is.
 */

/** Of what can wait: imports, merges, feeds, V8's helpers. Whoever else wakes goes before it, and not behind what it has in hand. */
export const WAITING_SLICE_MS = 100;
/**
 * Of small writes: a commit wakes several times, for its task and after each sync, and would wait for the slice of a search each time. It takes
 * little of a processor, so that searches do not wait for it long.
 */
export const SMALL_WRITE_SLICE_MS = 0.5;
