/**
 * Whether a service still answers anything. One that is stopped or hangs has its connections taken all the same, by the system, and a call
 * to it would wait for good.
 */
import { CommandError, EXIT } from './exit-codes.js';

/** A service that works at all answers at once whether it is alive. */
const SILENCE_SECONDS_MAX = 30;
/** A call that waits is no reason to ask more often. */
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

/** `tell` is called where nobody has called what is returned when a service that works would have answered. */
export function unlessAnswered(tell: () => void): () => void {
  return afterSeconds(SILENCE_SECONDS_MAX, tell);
}

/**
 * Asks again and again until what is returned is called, which breaks off `ask`. `onSilence` is called where that rejects with a
 * SilentServiceError; whatever else it says, the service is alive, or the call that waits is told by its own connection.
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

/** Counted one by one: a process that was stopped itself (Ctrl-Z), or a machine that was asleep, has waited for none of those seconds. */
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
