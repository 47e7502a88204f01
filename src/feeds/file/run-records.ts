/**
 * What one run read from its source. The records are kept in a temporary file until the run has ended, and memory holds
 * only their names and positions. Used on one thread only; `close` removes the file.
 */
import { closeSync, openSync, unlinkSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { readFullySync, writeFullySync } from '../../platform/index.js';
import type { SourceListener, SourceRecord } from '../source/source-run.js';
import { cutText } from '../text/cut-text.js';
import { RECORD_NAME_CHARACTERS_MAX, recordLine } from './sync-file.js';

const BUFFER_BYTES = 262_144;
/** Maximum number of skipped items that are shown. All of them are counted. */
const SKIPPED_SHOWN_MAX = 100;

export interface Skipped {
  readonly what: string;
  readonly why: string;
}

interface Place {
  readonly offset: number;
  readonly bytes: number;
}

export class RunRecords implements SourceListener {
  readonly skippedOnes: Skipped[] = [];
  skippedCount = 0;
  readonly startedMs = performance.now();
  private readonly places = new Map<string, Place>();
  /** Records of names in `same`, to be used if the synced file no longer has them. */
  private readonly instead = new Map<string, Place>();
  private readonly same = new Set<string>();
  private readonly evidence = new Set<string>();
  private readonly file: number;
  private buffered: Buffer[] = [];
  private bufferedBytes = 0;
  private writtenBytes = 0;

  constructor(private readonly path: string) {
    this.file = openSync(path, 'w+', 0o600);
  }

  record(given: SourceRecord): void {
    const record = { ...given, name: cutText(given.name, RECORD_NAME_CHARACTERS_MAX) };
    if (record.name === '' || this.has(record.name)) {
      this.skipped(record.name, 'The source has more than one record of this name; the first one is used.');
      return;
    }
    this.places.set(record.name, this.write(record));
  }

  unchanged(name: string, otherwise?: SourceRecord): void {
    if (this.places.has(name)) return;
    this.same.add(name);
    if (otherwise !== undefined) this.instead.set(name, this.write(otherwise));
  }

  /**
   * Uses the records given for unchanged names if the synced file no longer has these names. `known`: the names in the
   * synced file.
   */
  restore(known: ReadonlySet<string>): void {
    for (const [name, place] of this.instead) {
      if (known.has(name)) continue;
      this.same.delete(name);
      this.places.set(name, place);
    }
  }

  gone(name: string): void {
    this.evidence.add(name);
  }

  skipped(what: string, why: string): void {
    this.skippedCount += 1;
    if (this.skippedOnes.length < SKIPPED_SHOWN_MAX) this.skippedOnes.push({ what, why });
  }

  has(name: string): boolean {
    return this.places.has(name) || this.same.has(name);
  }

  /** Returns true if the source said that the record is gone, and did not also give it. */
  isGone(name: string): boolean {
    return this.evidence.has(name) && !this.has(name);
  }

  /** True if the source gave no record. At most it said of some that they are unchanged or gone. */
  get isEmpty(): boolean {
    return this.places.size === 0;
  }

  /** True if the source neither gave a record nor said of one that it is unchanged. */
  get hasMetNone(): boolean {
    return this.places.size === 0 && this.same.size === 0;
  }

  names(): string[] {
    return [...this.places.keys()].sort();
  }

  /** Returns the names of the records that the source said are unchanged. */
  unchangedNames(): ReadonlySet<string> {
    return this.same;
  }

  line(name: string): string | undefined {
    const place = this.places.get(name);
    if (place === undefined) return undefined;
    this.flush();
    const bytes = Buffer.allocUnsafe(place.bytes);
    if (readFullySync(this.file, bytes, place.offset) < place.bytes)
      throw new Error(`${this.path} was cut while a feed was read`);
    return bytes.toString();
  }

  close(): void {
    closeSync(this.file);
    unlinkSync(this.path);
  }

  private write(record: SourceRecord): Place {
    const line = Buffer.from(recordLine(record));
    const place = { offset: this.writtenBytes + this.bufferedBytes, bytes: line.length };
    this.buffered.push(line);
    this.bufferedBytes += line.length;
    if (this.bufferedBytes >= BUFFER_BYTES) this.flush();
    return place;
  }

  private flush(): void {
    if (this.bufferedBytes === 0) return;
    const bytes = Buffer.concat(this.buffered);
    writeFullySync(this.file, bytes, this.writtenBytes);
    this.writtenBytes += bytes.length;
    this.buffered = [];
    this.bufferedBytes = 0;
  }
}
