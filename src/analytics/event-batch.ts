/**
 * A batch of events, sent once per flush: events in order, each preceded by the number of its target within the batch.
 * A batch names its targets, so that a worker without any state can read it.
 *
 *   event of a batch   u16 target, then the event as in event-codec.ts
 */
import { EVENT_LENGTH_BYTES } from './event-codec.js';

export const BATCH_TARGET_BYTES = 2;
export const BATCH_TARGETS_MAX = 0xffff;

export interface EventBatch {
  /** Random id of this run of the service. */
  readonly session: string;
  /** From 1, without gaps within a session, so that a batch sent again is not counted again. */
  readonly number: number;
  readonly bytes: Uint8Array;
  readonly events: number;
  /** Identities of the targets. */
  readonly targets: readonly string[];
}

/**
 * Returns the joined events of each target, in the order of `targets`. Throws a RangeError if the bytes are not a
 * batch.
 */
export function splitBatch({ bytes, targets }: Pick<EventBatch, 'bytes' | 'targets'>): Uint8Array[] {
  const lengths = targets.map(() => 0);
  eachEvent(bytes, (target, begin, end) => {
    if (target >= lengths.length) throw new RangeError('A batch of events names a target that it does not have');
    lengths[target] = (lengths[target] as number) + end - begin;
  });
  const blocks = lengths.map((length) => new Uint8Array(length));
  const used = targets.map(() => 0);
  eachEvent(bytes, (target, begin, end) => {
    const at = used[target] as number;
    (blocks[target] as Uint8Array).set(bytes.subarray(begin, end), at);
    used[target] = at + end - begin;
  });
  return blocks;
}

function eachEvent(bytes: Uint8Array, visit: (target: number, begin: number, end: number) => void): void {
  for (let at = 0; at < bytes.length;) {
    const begin = at + BATCH_TARGET_BYTES;
    const length = (bytes[begin] ?? 0) | ((bytes[begin + 1] ?? 0) << 8);
    const end = begin + EVENT_LENGTH_BYTES + length;
    if (end > bytes.length) throw new RangeError('A batch of events is cut short');
    visit((bytes[at] as number) | ((bytes[at + 1] as number) << 8), begin, end);
    at = end;
  }
}
