/** Counts the events of one list or group by hour. Belongs to one thread. */
import { ClickJoiner } from './click-joiner.js';
import { EVENT_KINDS, EventReader } from './event-codec.js';
import { RollUp } from './roll-up.js';

export const HOUR_MS = 3_600_000;

export class EventCounter {
  /** Roll-ups by the number of the hour since the Unix epoch. */
  readonly hours = new Map<number, RollUp>();
  readonly clicks: ClickJoiner;
  events = 0;
  /** Number of blocks that could not be read to their end. */
  damagedBlocks = 0;
  private readonly reader = new EventReader();
  private currentHour = Number.NaN;
  private current = new RollUp();

  constructor(isList: boolean) {
    this.clicks = new ClickJoiner(isList);
  }

  /** Counts the events of these blocks. A click finds its search in any of them. */
  count(blocks: readonly Uint8Array[]): void {
    for (const block of blocks) this.takeClicks(block);
    for (const block of blocks) {
      const reader = this.reader.reset(block);
      while (reader.next()) {
        this.events += 1;
        if (reader.kind === EVENT_KINDS.search) this.countSearch(reader);
        else this.hour(reader.timeMs).sums.clicks += 1;
      }
      if (reader.isDamaged) this.damagedBlocks += 1;
    }
  }

  /** Looks for the searches of waiting clicks in a block that was counted before. */
  joinClicks(block: Uint8Array): void {
    const reader = this.reader.reset(block);
    while (this.clicks.hasWaiting && reader.nextKind !== undefined) {
      if (reader.nextKind !== EVENT_KINDS.search) reader.skip();
      else if (reader.next()) this.clicks.join(reader);
    }
  }

  /** Runs before counting, so that the searches of the same blocks find the clicks waiting. */
  private takeClicks(block: Uint8Array): void {
    const reader = this.reader.reset(block);
    while (reader.nextKind !== undefined) {
      if (reader.nextKind !== EVENT_KINDS.click) reader.skip();
      else if (reader.next() && reader.idBegin >= 0) this.clicks.wait(reader, this.hour(reader.timeMs));
    }
  }

  private countSearch(reader: EventReader): void {
    const { sums, tables } = this.hour(reader.timeMs);
    sums.searches += 1;
    const { bytes, textBegin, textEnd } = reader;
    if (textEnd > textBegin) tables.terms.add(bytes, textBegin, textEnd);
    if (!reader.hasResults) {
      sums.zeroResultSearches += 1;
      if (textEnd > textBegin) tables.zeroResultTerms.add(bytes, textBegin, textEnd);
    }
    if (reader.isReordered) this.countReordering(reader);
    if (this.clicks.hasWaiting) this.clicks.join(reader);
  }

  private countReordering(reader: EventReader): void {
    const { sums } = this.hour(reader.timeMs);
    sums.rerankedSearches += 1;
    reader.readShown((_hash, placeBefore, placeAfter) => {
      if (placeAfter === 0 && placeBefore !== 0) sums.topChanged += 1;
      sums.placesMovedUp += placeBefore - placeAfter;
      sums.resultsShown += 1;
    });
  }

  private hour(timeMs: number): RollUp {
    const hour = Math.floor(timeMs / HOUR_MS);
    if (hour === this.currentHour) return this.current;
    let rollUp = this.hours.get(hour);
    if (rollUp === undefined) this.hours.set(hour, (rollUp = new RollUp()));
    this.currentHour = hour;
    this.current = rollUp;
    return rollUp;
  }
}
