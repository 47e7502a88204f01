/**
 * Descriptors, memory maps and address space that open lists take. A list is created only if there is room for it and
 * for what the existing lists may still open. Opening an existing list needs less in reserve, so that a start has room
 * for all of them.
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

/**
 * Descriptors: data, lock, and the one through which commits are synced. Maps: data, lock, and the old map that remains
 * after the first growth.
 */
const STORE: Room = { descriptors: 3, maps: 3, addressBytes: INITIAL_MAP_BYTES };
/** A new list soon has this many segments. */
const SEGMENTS_OF_A_NEW_LIST = 2;
const SEGMENT: Room = { descriptors: 1, maps: 1, addressBytes: 2 ** 20 };

/** For connections, threads, and what writing and merging open temporarily. */
const RESERVED_FOR_NEW_LISTS: Room = { descriptors: 64, maps: 2048, addressBytes: 2 ** 31 };
/** Reserve for threads that open the list's store themselves. */
const RESERVED_FOR_LISTS: Room = { descriptors: 32, maps: 1024, addressBytes: 2 ** 30 + 2 * INITIAL_MAP_BYTES };
/** What a writing task has open: a segment being built, its sources, the store in another thread. */
const RESERVED_FOR_WRITING: Room = { descriptors: 20, maps: 256, addressBytes: 2 ** 29 };
/** What a service without lists uses: threads, its own files, libraries. */
const OF_THE_SERVICE: Room = { descriptors: 90, maps: 700, addressBytes: 12 * 2 ** 30 };
/** Merging keeps their number small. */
const SEGMENTS_OF_A_SMALL_LIST = 4;
/** Memory of a small open list: its store, its write buffers, cached data of its segments. */
const OPEN_LIST_BYTES = 336 * 1024;
/** Minimum, however little memory there is. */
const BY_MEMORY_MIN = 64;
const OPEN_MIN = 8;
const NOTHING: Room = { descriptors: 0, maps: 0, addressBytes: 0 };

export class ListRoom {
  constructor(private readonly room = new ProcessRoom()) {}

  /** Reserves room for a new list. Throws `limit-reached` if there is none. */
  takeNew(): void {
    const need = needOf(SEGMENTS_OF_A_NEW_LIST);
    const lacking = this.room.lacking(need, RESERVED_FOR_NEW_LISTS);
    if (lacking !== undefined) throw limitReached('one list more', lacking);
    this.room.take(need);
  }

  /**
   * Reserves room for the list at this path. Throws `resources-exhausted` if it cannot be opened in addition to what is
   * open.
   */
  takeExisting(listPath: string): void {
    const folder = segmentsPath(listPath);
    const need = needOf(existsSync(folder) ? readdirSync(folder).length : 0);
    const lacking = this.room.lacking(need, RESERVED_FOR_LISTS);
    if (lacking !== undefined) throw resourcesExhausted(describeUse(lacking));
    this.room.take(need);
  }

  /** Call it after lists were closed. */
  countAnew(): void {
    this.room.countAnew();
  }

  /** Throws `resources-exhausted` if a writing task might not be able to open what it needs. */
  assertForWriting(): void {
    const lacking = this.room.lacking(NOTHING, RESERVED_FOR_WRITING);
    if (lacking !== undefined) throw resourcesExhausted(describeUse(lacking));
  }
}

/**
 * Returns the maximum number of open lists without work to do: the setting, or what the limits of the process and the
 * memory for lists allow.
 */
export function listsOpenMax(
  { lists, ...config }: BudgetedConfig & Pick<Config, 'lists'>,
  limits: readonly ResourceUse[] = processLimits(),
): number {
  if (lists.open_max > 0) return lists.open_max;
  const byMemory = Math.max(BY_MEMORY_MIN, Math.floor(memoryBudget(config).openListsBytesMax / OPEN_LIST_BYTES));
  return Math.max(OPEN_MIN, Math.min(byMemory, listsThatFit(limits)));
}

/** Returns how many small lists fit into these limits, in addition to the known needs of a service. */
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
