/**
 * Time slices of threads: the milliseconds a thread runs at a time while others want the processor
 * (docs/decisions/0209). Its share over time is unaffected and determined by its niceness. Linux 6.12 and later;
 * elsewhere there is only niceness.
 */

/**
 * For work that can wait: imports, merges, feeds, V8's helpers. Any other thread that wakes goes first, without waiting
 * for the slice.
 */
export const WAITING_SLICE_MS = 100;
/**
 * For small writes: a commit wakes several times, for its task and after each sync, and would wait for a search's slice
 * each time. It uses little processor time, so searches do not wait long for it.
 */
export const SMALL_WRITE_SLICE_MS = 0.5;
