/**
 * Joins clicks with the searches whose query ids they carry. A joined click tells which term led to which record and,
 * if a reranker ran, by how many places it had moved the record up.
 *
 * The table of query ids (open addressing on their last bytes, which are random) is probed for every search read, so a
 * failed probe has to be nearly free. Belongs to one thread.
 */
import { QUERY_ID_BYTES, queryIdTimeMs, type EventReader } from './event-codec.js';
import { resultHash } from './hash.js';
import type { RollUp } from './roll-up.js';

interface WaitingClick {
  readonly queryId: Uint8Array;
  readonly resultName: Uint8Array;
  readonly listName: Uint8Array;
  /** The roll-up of the click's hour. */
  readonly rollUp: RollUp;
  isJoined: boolean;
  /** The next click with the same query id. */
  readonly next: WaitingClick | undefined;
}

const SLOTS_AT_FIRST = 256;
const SEPARATOR_BYTES = 1;

export class ClickJoiner {
  private slots: (WaitingClick | undefined)[] = new Array<WaitingClick | undefined>(SLOTS_AT_FIRST);
  /** One bit per slot: set if it is taken. Small enough to stay in the processor's first cache. */
  private taken = new Uint8Array(SLOTS_AT_FIRST);
  private queryIds = 0;
  private joined = 0;
  private clicks = 0;
  private pair = Buffer.alloc(1024);

  /** `isList`: true if clicks teach which records belong to which searches. */
  constructor(private readonly isList: boolean) {}

  get hasWaiting(): boolean {
    return this.joined < this.clicks;
  }

  /** Adds the reader's current click; keeps a reference to its bytes. */
  wait({ bytes, idBegin, textBegin, textEnd, listNameBegin, listNameEnd }: EventReader, rollUp: RollUp): void {
    const queryId = bytes.subarray(idBegin, idBegin + QUERY_ID_BYTES);
    const slot = this.slotOf(queryId, 0);
    const next = this.slots[slot];
    this.slots[slot] = {
      queryId,
      resultName: bytes.subarray(textBegin, textEnd),
      listName: bytes.subarray(listNameBegin, listNameEnd),
      rollUp,
      isJoined: false,
      next,
    };
    this.taken[slot] = 1;
    this.clicks += 1;
    if (next !== undefined) return;
    this.queryIds += 1;
    if (this.queryIds * 2 > this.slots.length) this.grow();
  }

  /** Joins the waiting clicks with the reader's current search. */
  join(search: EventReader): void {
    const { bytes, idBegin } = search;
    const first = this.placeOf(bytes, idBegin);
    if (this.taken[first] === 0) return;
    for (let click = this.slots[this.slotOf(bytes, idBegin)]; click !== undefined; click = click.next) {
      if (click.isJoined) continue;
      click.isJoined = true;
      this.joined += 1;
      if (this.isList) this.learn(search, click);
      if (search.isReordered) this.measureLift(search, click);
    }
  }

  /** Returns the times of searches not found yet, in ascending milliseconds. */
  missingTimesMs(): number[] {
    const times: number[] = [];
    for (const click of this.slots) {
      if (click !== undefined && !click.isJoined) times.push(queryIdTimeMs(click.queryId, 0));
    }
    return times.sort((a, b) => a - b);
  }

  private learn({ bytes, textBegin, textEnd }: EventReader, { resultName, rollUp }: WaitingClick): void {
    const termBytes = textEnd - textBegin;
    if (termBytes === 0) return;
    rollUp.tables.clickedTerms.add(bytes, textBegin, textEnd);
    const pairBytes = termBytes + SEPARATOR_BYTES + resultName.length;
    if (pairBytes > this.pair.length) this.pair = Buffer.alloc(pairBytes * 2);
    this.pair.set(bytes.subarray(textBegin, textEnd), 0);
    this.pair[termBytes] = 0;
    this.pair.set(resultName, termBytes + SEPARATOR_BYTES);
    rollUp.tables.clickedPairs.add(this.pair, 0, pairBytes);
  }

  private measureLift(search: EventReader, { listName, resultName, rollUp }: WaitingClick): void {
    const wanted = resultHash(this.isList ? new Uint8Array() : listName, resultName);
    search.readShown((hash, placeBefore, placeAfter) => {
      if (hash !== wanted) return;
      rollUp.sums.clickedPlacesMovedUp += placeBefore - placeAfter;
      rollUp.sums.clickedResults += 1;
    });
  }

  private placeOf(bytes: Uint8Array, begin: number): number {
    const at = begin + QUERY_ID_BYTES - 4;
    const random =
      (bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24);
    return random & (this.slots.length - 1);
  }

  /** Returns the slot of this query id, or the free one where it would be. */
  private slotOf(bytes: Uint8Array, begin: number): number {
    const mask = this.slots.length - 1;
    let slot = this.placeOf(bytes, begin);
    for (;;) {
      const click = this.slots[slot];
      if (click === undefined || isSame(click.queryId, bytes, begin)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  private grow(): void {
    const before = this.slots;
    this.slots = new Array<WaitingClick | undefined>(before.length * 2);
    this.taken = new Uint8Array(this.slots.length);
    for (const click of before) {
      if (click === undefined) continue;
      const slot = this.slotOf(click.queryId, 0);
      this.slots[slot] = click;
      this.taken[slot] = 1;
    }
  }
}

function isSame(queryId: Uint8Array, bytes: Uint8Array, begin: number): boolean {
  for (let index = QUERY_ID_BYTES - 1; index >= 0; --index) {
    if (queryId[index] !== bytes[begin + index]) return false;
  }
  return true;
}
