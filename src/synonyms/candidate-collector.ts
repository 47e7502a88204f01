/** Collects definitions found in records into candidates for synonym rules: one per sense of an abbreviation. */
import type { Definition } from './abbreviations.js';

/** Limit on senses kept while records are read; later new ones are ignored. About 300 bytes each. */
const SENSES_TRACKED_MAX = 100_000;
const CANDIDATES_MAX = 500;
const EXAMPLES_MAX = 3;
const SURFACES_MAX = 8;
/** A shorter word in -s is seldom a plural. */
const PLURAL_CHARACTERS_MIN = 4;

export interface SynonymCandidate {
  readonly abbreviation: string;
  readonly sense: string;
  readonly record_count: number;
  /** Names of records. */
  readonly examples: readonly string[];
}

/** Counts of one sense in a part of the records. Counts of parts are added up. */
export interface SenseCount {
  readonly abbreviation: string;
  readonly senseKey: string;
  /** Spellings of the sense, with the number of records of each. */
  readonly surfaces: readonly (readonly [surface: string, records: number])[];
  readonly records: number;
  readonly examples: readonly string[];
}

interface Sense {
  readonly abbreviation: string;
  readonly senseKey: string;
  readonly surfaces: Map<string, number>;
  records: number;
  readonly examples: string[];
}

export class CandidateCollector {
  private readonly senses = new Map<string, Sense>();

  /** Adds the definitions of one record. */
  addRecord(name: string, definitions: readonly Definition[]): void {
    const seen = new Set<string>();
    for (const { abbreviation, longForm } of definitions) {
      const count = {
        abbreviation: singular(abbreviation),
        senseKey: senseKey(longForm),
        surfaces: [[longForm.replace(/\s+/gu, ' '), 1]] as const,
        records: 1,
        examples: [name],
      };
      const key = keyOf(count);
      if (seen.has(key)) continue;
      seen.add(key);
      this.add(count);
    }
  }

  add(count: SenseCount): void {
    const key = keyOf(count);
    let sense = this.senses.get(key);
    if (sense === undefined) {
      if (this.senses.size >= SENSES_TRACKED_MAX) return;
      const { abbreviation, senseKey: ofSense } = count;
      sense = { abbreviation, senseKey: ofSense, surfaces: new Map(), records: 0, examples: [] };
      this.senses.set(key, sense);
    }
    sense.records += count.records;
    for (const [surface, records] of count.surfaces) {
      const known = sense.surfaces.get(surface);
      if (known !== undefined || sense.surfaces.size < SURFACES_MAX)
        sense.surfaces.set(surface, (known ?? 0) + records);
    }
    for (const example of count.examples) if (sense.examples.length < EXAMPLES_MAX) sense.examples.push(example);
  }

  counts(): SenseCount[] {
    return Array.from(this.senses.values(), ({ surfaces, ...rest }) => ({ ...rest, surfaces: [...surfaces] }));
  }

  /** Returns the candidates with the most records, at most CANDIDATES_MAX. */
  candidates(): SynonymCandidate[] {
    return [...this.senses.values()]
      .sort(
        (a, b) => b.records - a.records || compare(a.abbreviation, b.abbreviation) || compare(a.senseKey, b.senseKey),
      )
      .slice(0, CANDIDATES_MAX)
      .map(({ abbreviation, surfaces, records, examples }) => ({
        abbreviation,
        sense: mostFrequent(surfaces),
        record_count: records,
        examples,
      }));
  }
}

function keyOf({ abbreviation, senseKey: ofSense }: Pick<SenseCount, 'abbreviation' | 'senseKey'>): string {
  return `${abbreviation}\n${ofSense}`;
}

/** Treats "SVMs" as "SVM". */
function singular(abbreviation: string): string {
  return /^[\p{Lu}\p{N}-]{2,}s$/u.test(abbreviation) ? abbreviation.slice(0, -1) : abbreviation;
}

/** Returns a key that ignores case, hyphens, blanks and plurals, so that all spellings of a sense share it. */
function senseKey(longForm: string): string {
  return longForm
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => (word.length >= PLURAL_CHARACTERS_MIN && /[^s]s$/u.test(word) ? word.slice(0, -1) : word))
    .join(' ');
}

function mostFrequent(surfaces: ReadonlyMap<string, number>): string {
  let best = '';
  let records = 0;
  for (const [surface, count] of surfaces) {
    // Of equally frequent spellings, the shorter wins: "machine" before "machines".
    const isLonger = surface.length > best.length || (surface.length === best.length && surface >= best);
    if (count < records || (count === records && isLonger)) continue;
    best = surface;
    records = count;
  }
  return best;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
