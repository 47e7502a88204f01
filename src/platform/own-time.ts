/**
 * A limit of the time in which this process runs. After a standstill (a machine that was suspended, or that gave the
 * processor to others) a timer would end what has been answered meanwhile, before the answer is read.
 */

/** A later look counts as no more: the rest was a standstill. */
const STEP_MS_MAX = 1000;
/** Between two looks, what has arrived is read. */
const STEPS_MIN = 4;

/** Calls `tell` when the process has run for so many milliseconds. Returns a function that calls it off. */
export function afterOwnTime(milliseconds: number, tell: () => void): () => void {
  const stepMs = Math.min(STEP_MS_MAX, milliseconds / STEPS_MIN);
  let leftMs = milliseconds;
  const next = (): NodeJS.Timeout =>
    setTimeout(() => {
      leftMs -= stepMs;
      if (leftMs > 0) timer = next();
      else tell();
    }, stepMs);
  let timer = next();
  return () => {
    clearTimeout(timer);
  };
}
