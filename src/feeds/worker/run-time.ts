/** The time that a source may take. */
import type { FeedSource } from '../file/sync-run.js';
import type { SourceListener, SourceOutcome } from '../source/source-run.js';

export interface RunTime {
  readonly milliseconds: number;
  /** Of whoever may end it sooner. */
  readonly signal: AbortSignal;
  /** What the action's signal is aborted with when the time is over. */
  readonly late: Error;
}

/**
 * As the action does, whose signal is aborted when the time is over, or as the one that was given. No `AbortSignal.timeout` within an
 * `AbortSignal.any`: Node.js 20 lets go of it as of all that nobody holds, and it is never aborted.
 */
export async function inTime<Result>(
  { milliseconds, signal, late }: RunTime,
  action: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const leave = () => controller.abort(signal.reason);
  const timer = setTimeout(() => controller.abort(late), milliseconds);
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  try {
    return await action(controller.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', leave);
  }
}

/**
 * The source, which has so many milliseconds from now on. What it has told of by then counts, of the rest nothing is known, and nothing is
 * remembered of the run; where it has told of no record, or is asked which are gone, that has failed.
 */
export function cutShort(source: FeedSource, milliseconds: number, late: Error): FeedSource {
  const endMs = performance.now() + milliseconds;
  const timeOf = (signal: AbortSignal) => ({ milliseconds: Math.max(0, endMs - performance.now()), signal, late });
  let isCut = false;
  return {
    provider: source.provider,
    asksForEach: source.asksForEach,
    async read(listener, { isFresh, signal }): Promise<SourceOutcome> {
      let isAny = false;
      const heard: SourceListener = {
        record(record) {
          isAny = true;
          listener.record(record);
        },
        unchanged(...told) {
          isAny = true;
          listener.unchanged(...told);
        },
        gone: (name) => listener.gone(name),
        skipped: (what, why) => listener.skipped(what, why),
      };
      try {
        return await inTime(timeOf(signal), (own) => source.read(heard, { isFresh, signal: own }));
      } catch (error) {
        if (error !== late || !isAny) throw error;
        isCut = true;
        listener.skipped('the rest', late.message);
        return { isComplete: false, requests: 0, bytes: 0 };
      }
    },
    confirmGone: (names, signal) => inTime(timeOf(signal), (own) => source.confirmGone(names, own)),
    fields: () => source.fields(),
    keep: () => (isCut ? Promise.resolve() : source.keep()),
  };
}
