/** Counts stored blocks and finds the searches that clicks belong to in blocks that were counted before. */
import type { AnalyticsStore, RawBlock } from './analytics-store.js';
import { EventCounter } from './event-counter.js';
import { blockTimeMs } from './store-keys.js';

/** Counted at a time, so that clicks find most searches in the same blocks. */
const CHUNK_BYTES = 4 * 2 ** 20;
/** A search is looked for in what was appended within this time after it began: as long as batches are tried again. */
const APPENDED_WITHIN_MS = 11 * 60_000;
/** Blocks that are read for one click, and for all together. A click whose search is not found by then teaches nothing. */
const BLOCKS_PER_CLICK_MAX = 32;
const BLOCKS_READ_MAX = 4096;

export interface CountedBlocks {
  readonly counter: EventCounter;
  /** Key of the last block that was counted; undefined where there was none. */
  readonly upTo: Buffer | undefined;
  readonly bytes: number;
  /** True where it stopped before the end. */
  readonly isCut: boolean;
}

/** Counts blocks in turn until `isEnough`, which is asked after each chunk. */
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

/** Looks for the searches of clicks that still wait, in the blocks of the time in which they ran. */
export function joinEarlierSearches(store: AnalyticsStore, number: number, counter: EventCounter): void {
  const { clicks } = counter;
  let readUpToMs = -1;
  let blocksRead = 0;
  for (const searchMs of clicks.missingTimesMs()) {
    if (!clicks.hasWaiting || blocksRead >= BLOCKS_READ_MAX) return;
    const fromMs = Math.max(searchMs, readUpToMs + 1);
    let readForClick = 0;
    for (const { key, events } of store.blocksBetween(number, fromMs, searchMs + APPENDED_WITHIN_MS)) {
      // Blocks of one millisecond are read together, so that the next click can begin behind them.
      if (readForClick >= BLOCKS_PER_CLICK_MAX && blockTimeMs(key) > readUpToMs) break;
      counter.joinClicks(events);
      readUpToMs = blockTimeMs(key);
      blocksRead += 1;
      readForClick += 1;
    }
  }
  // Times of blocks never go back: since the clock did, what is searched is in the last ones, and not where its own time is.
  if (!store.isAheadBy(APPENDED_WITHIN_MS)) return;
  for (const { events } of store.newestBlocks(number)) {
    if (!clicks.hasWaiting || blocksRead >= BLOCKS_READ_MAX) return;
    counter.joinClicks(events);
    blocksRead += 1;
  }
}
