/** Counts stored blocks, and finds the searches of clicks in blocks that were counted before. */
import type { AnalyticsStore, RawBlock } from './analytics-store.js';
import { EventCounter } from './event-counter.js';
import { blockTimeMs } from './store-keys.js';

/** Bytes counted at a time, so that most clicks find their searches in the same chunk. */
const CHUNK_BYTES = 4 * 2 ** 20;
/** A search is expected in blocks appended within this time after it began: as long as batches are retried. */
const APPENDED_WITHIN_MS = 11 * 60_000;
/** Limits of blocks read, per click and in total. A click whose search is not found by then teaches nothing. */
const BLOCKS_PER_CLICK_MAX = 32;
const BLOCKS_READ_MAX = 4096;

export interface CountedBlocks {
  readonly counter: EventCounter;
  /** Key of the last block counted; undefined if there was none. */
  readonly upTo: Buffer | undefined;
  readonly bytes: number;
  /** True if it stopped before the end. */
  readonly isCut: boolean;
}

/** Counts blocks in order until `isEnough`, which is called after each chunk. */
export function countBlocks(
  blocks: Iterable<RawBlock>,
  isList: boolean,
  isEnough: (bytes: number) => boolean,
): CountedBlocks {
  const counter = new EventCounter(isList);
  let upTo: Buffer | undefined;
  let bytes = 0;
  let chunk: Uint8Array[] = [];
  let chunkBytes = 0;
  let isCut = false;
  for (const { key, events } of blocks) {
    if (chunkBytes >= CHUNK_BYTES) {
      counter.count(chunk);
      chunk = [];
      chunkBytes = 0;
      if (isEnough(bytes)) {
        isCut = true;
        break;
      }
    }
    chunk.push(events);
    chunkBytes += events.length;
    bytes += events.length;
    upTo = key;
  }
  counter.count(chunk);
  return { counter, upTo, bytes, isCut };
}

/** Looks for the searches of waiting clicks, in the blocks of the time in which they ran. */
export function joinEarlierSearches(store: AnalyticsStore, number: number, counter: EventCounter): void {
  const { clicks } = counter;
  let readUpToMs = -1;
  let blocksRead = 0;
  for (const searchMs of clicks.missingTimesMs()) {
    if (!clicks.hasWaiting || blocksRead >= BLOCKS_READ_MAX) return;
    const fromMs = Math.max(searchMs, readUpToMs + 1);
    let readForClick = 0;
    for (const { key, events } of store.blocksBetween(number, fromMs, searchMs + APPENDED_WITHIN_MS)) {
      // Blocks of one millisecond are read together, so that the next click can continue after them.
      if (readForClick >= BLOCKS_PER_CLICK_MAX && blockTimeMs(key) > readUpToMs) break;
      counter.joinClicks(events);
      readUpToMs = blockTimeMs(key);
      blocksRead += 1;
      readForClick += 1;
    }
  }
  // Times of blocks never go back. If the clock did, the searches are in the last blocks, not at their own time.
  if (!store.isAheadBy(APPENDED_WITHIN_MS)) return;
  for (const { events } of store.newestBlocks(number)) {
    if (!clicks.hasWaiting || blocksRead >= BLOCKS_READ_MAX) return;
    counter.joinClicks(events);
    blocksRead += 1;
  }
}
