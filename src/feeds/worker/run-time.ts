/** Limits the time that a source may take. */
import { afterOwnTime } from '../../platform/index.js';
import type { FeedSource } from '../file/sync-run.js';
import type { SourceListener, SourceOutcome } from '../source/source-run.js';

export interface RunTime {
  /** Of the process's own time: a source that answers while it stands still is in time. */
  readonly milliseconds: number;
  /** The signal of whoever may end the action sooner. */
  readonly signal: AbortSignal;
  /** The reason with which the action's signal is aborted when the time is over. */
  readonly late: Error;
}

/**
 * Resolves or rejects as the action does. The action's signal is aborted when the time is over or the given signal is
 * aborted. `AbortSignal.timeout` is not used within `AbortSignal.any`: Node.js 20 garbage-collects it because nothing
 * else refers to it, and then it is never aborted.
 */
export async function inTime<Result>(
  { milliseconds, signal, late }: RunTime,
  action: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const leave = () => controller.abort(signal.reason);
  const callOff = afterOwnTime(milliseconds, () => controller.abort(late));
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  try {
    return await action(controller.signal);
  } finally {
    callOff();
    signal.removeEventListener('abort', leave);
  }
}

/**
 * Returns the same source with a limited time, which begins now. When it is over, what the source has told so far is
 * used, nothing is known of the rest, and the run remembers nothing. If the source has not told of any record by then,
 * or was being asked which records are gone, the call fails.
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
