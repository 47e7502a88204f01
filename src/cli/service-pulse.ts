/**
 * Detects a service that no longer answers. If one is stopped or hangs, the system still accepts its connections, and
 * calls would wait forever.
 */
import { CommandError, EXIT } from './exit-codes.js';

/** A working service answers a health check at once. */
const SILENCE_SECONDS_MAX = 30;
/** Interval of checks during a call. */
const PAUSE_SECONDS = 30;
const SECOND_MS = 1000;

export class SilentServiceError extends CommandError {
  constructor(service: string) {
    super(
      `${service} accepts connections but has not answered for ${SILENCE_SECONDS_MAX} s: it is paused, hanging or overloaded.`,
      EXIT.unavailable,
    );
  }
}

/** Calls `tell` unless the returned function is called before a working service would have answered. */
export function unlessAnswered(tell: () => void): () => void {
  return afterSeconds(SILENCE_SECONDS_MAX, tell);
}

/**
 * Repeats `ask` until the returned function is called, which cancels `ask`. Calls `onSilence` if `ask` rejects with a
 * SilentServiceError; with any other result the service is alive, or the waiting call learns of the failure from its
 * own connection.
 */
export function watchPulse(ask: (over: AbortSignal) => Promise<void>, onSilence: (error: SilentServiceError) => void) {
  const over = new AbortController();
  let cancel: () => void;
  const look = async (): Promise<void> => {
    try {
      await ask(over.signal);
    } catch (error) {
      if (error instanceof SilentServiceError && !over.signal.aborted) onSilence(error);
    }
    if (!over.signal.aborted) cancel = afterSeconds(PAUSE_SECONDS, () => void look());
  };
  cancel = afterSeconds(PAUSE_SECONDS, () => void look());
  return () => {
    over.abort();
    cancel();
  };
}

/**
 * Counts seconds one by one, so that time does not count during which this process was stopped (Ctrl-Z) or the machine
 * was asleep.
 */
function afterSeconds(seconds: number, action: () => void): () => void {
  let left = seconds;
  const tick = (): NodeJS.Timeout =>
    setTimeout(() => {
      left -= 1;
      if (left === 0) action();
      else timer = tick();
    }, SECOND_MS);
  let timer = tick();
  return () => {
    clearTimeout(timer);
  };
}
