/**
 * What open lists take of descriptors, maps and address space. A list is made only where there is room for it and for what the
 * lists that are there still open; a list that exists is opened with less to spare, so that a start finds room for all of them.
 */
import { existsSync, readdirSync } from 'node:fs';
import {
  describeUse,
  limitReached,
  memoryBudget,
  processLimits,
  ProcessRoom,
  resourcesExhausted,
  type BudgetedConfig,
  type Config,
  type ResourceUse,
  type Room,
} from '../../platform/index.js';
import { INITIAL_MAP_BYTES, segmentsPath } from '../../store/index.js';

/** Data, lock, and the descriptor through which a commit is synced; maps of data and lock; and the map that the first growth leaves. */
const STORE: Room = { descriptors: 3, maps: 3, addressBytes: INITIAL_MAP_BYTES };
/** A new list soon has some. */
const SEGMENTS_OF_A_NEW_LIST = 2;
const SEGMENT: Room = { descriptors: 1, maps: 1, addressBytes: 2 ** 20 };

/** For connections, threads, and what writing and merging open for a while. */
const RESERVED_FOR_NEW_LISTS: Room = { descriptors: 64, maps: 2048, addressBytes: 2 ** 31 };
/** Beside what threads leave of the addresses when they open the store of the list for themselves. */
const RESERVED_FOR_LISTS: Room = { descriptors: 32, maps: 1024, addressBytes: 2 ** 30 + 2 * INITIAL_MAP_BYTES };
/** What a task that writes opens at a time: a segment in the making, its sources, the store in another thread. */
const RESERVED_FOR_WRITING: Room = { descriptors: 20, maps: 256, addressBytes: 2 ** 29 };
/** What a service without lists has: its threads, its own files, the libraries. */
const OF_THE_SERVICE: Room = { descriptors: 90, maps: 700, addressBytes: 12 * 2 ** 30 };
/** Merging keeps them few. */
const SEGMENTS_OF_A_SMALL_LIST = 4;
/** What a small list takes of memory while it is open: its store, its buffers for writing, what is known of its segments. */
const OPEN_LIST_BYTES = 336 * 1024;
/** However little memory there is. */
const BY_MEMORY_MIN = 64;
const OPEN_MIN = 8;
const NOTHING: Room = { descriptors: 0, maps: 0, addressBytes: 0 };

export class ListRoom {
  constructor(private readonly room = new ProcessRoom()) {}

  /** Throws `limit-reached` where there is no room for one list more. */
  takeNew(): void {
    const need = needOf(SEGMENTS_OF_A_NEW_LIST);
    const lacking = this.room.lacking(need, RESERVED_FOR_NEW_LISTS);
    if (lacking !== undefined) throw limitReached('one list more', lacking);
    this.room.take(need);
  }

  /** Throws `resources-exhausted` where the list at this path cannot be opened beside what is open. */
  takeExisting(listPath: string): void {
    const folder = segmentsPath(listPath);
    const need = needOf(existsSync(folder) ? readdirSync(folder).length : 0);
    const lacking = this.room.lacking(need, RESERVED_FOR_LISTS);
    if (lacking !== undefined) throw resourcesExhausted(describeUse(lacking));
    this.room.take(need);
  }

  /** Lists were closed. */
  countAnew(): void {
    this.room.countAnew();
  }

  /** Throws `resources-exhausted` where a task that writes might not get what it opens. */
  assertForWriting(): void {
    const lacking = this.room.lacking(NOTHING, RESERVED_FOR_WRITING);
    if (lacking !== undefined) throw resourcesExhausted(describeUse(lacking));
  }
}

/**
 * How many lists are open at a time, as far as they have nothing to do: what is set, or what there is room for in the limits of the process
 * and in the memory that lists may take.
 */
export function listsOpenMax(
  { lists, ...config }: BudgetedConfig & Pick<Config, 'lists'>,
  limits: readonly ResourceUse[] = processLimits(),
): number {
  if (lists.open_max > 0) return lists.open_max;
  const byMemory = Math.max(BY_MEMORY_MIN, Math.floor(memoryBudget(config).openListsBytesMax / OPEN_LIST_BYTES));
  return Math.max(OPEN_MIN, Math.min(byMemory, listsThatFit(limits)));
}

/** Lists of a few segments that a service fits into these limits, as far as what it needs beside them is known. */
export function listsThatFit(limits: readonly ResourceUse[]): number {
  const need = needOf(SEGMENTS_OF_A_SMALL_LIST);
  const fits = limits.map(
    ({ resource, max }) => (max - OF_THE_SERVICE[resource] - RESERVED_FOR_NEW_LISTS[resource]) / need[resource],
  );
  return Math.max(0, Math.floor(Math.min(...fits)));
}

function needOf(segments: number): Room {
  return {
    descriptors: STORE.descriptors + segments * SEGMENT.descriptors,
    maps: STORE.maps + segments * SEGMENT.maps,
    addressBytes: STORE.addressBytes + segments * SEGMENT.addressBytes,
  };
}
