/** Lists of thousands of random records in many segments, with the records at hand for the reference. */
import type { FieldDefinition } from '../../src/catalog/index.js';
import type { ListIndex, SearchSettings } from '../../src/index/index.js';
import { LIST_SETTINGS, type ListsInFolder } from '../support/lists-in-folder.js';
import { eventually } from '../support/eventually.js';
import type { SeededRandom } from '../support/random.js';
import type { FacetDefinition, Value } from '../model/reference-values.js';
import { madeText, madeVocabulary, type Vocabulary } from './made-texts.js';

export interface MadeRecord {
  readonly name: string;
  readonly fields: Readonly<Record<string, Value>>;
  readonly vector?: readonly number[];
}

export interface MadeList {
  readonly id: string;
  readonly settings: SearchSettings;
  readonly definition: FieldDefinition;
  readonly vocabulary: Vocabulary;
  /** By name, as last written. */
  readonly records: Map<string, MadeRecord>;
  readonly isRewritten: boolean;
  index: ListIndex;
}

export const COLOURS = ['red', 'green', 'blue', 'grey', 'dark red'];
export const TAGS = ['a', 'b', 'c', 'd', 'e'];
const DIMENSIONS = 6;
/** Lists of fewer vectors may stay without a scale of their own. */
const CALIBRATED_MIN = 200;
const DAY_MS = 86_400_000;
export const FACETS: readonly FacetDefinition[] = [
  { name: 'colour', type: 'string', cardinality: 'Single' },
  { name: 'tags', type: 'string', cardinality: 'Many' },
  { name: 'price', type: 'number', cardinality: 'Single' },
  { name: 'sizes', type: 'number', cardinality: 'Many' },
  { name: 'active', type: 'boolean', cardinality: 'Single' },
  { name: 'released', type: 'date', cardinality: 'Single' },
  { name: 'product', type: 'string', cardinality: 'Single' },
];
const FIELDS = ['title', 'text', 'code'];
const SYNONYMS = [
  { kind: 'equivalent', terms: ['new york', 'nyc', 'first name'] },
  { kind: 'equivalent', terms: ['sofa', 'couch', 'example.com'] },
  { kind: 'rewrite', terms: ['tablet', 'running house'], replace_with: ['ipad', 'C++'] },
];
const RULES = [
  { name: 'colours', pattern: String.raw`\b(red|green|blue)\b`, filter: 'colour = $1' },
  { name: 'cheap', pattern: String.raw`\bcheap\b`, filter: 'price < 5', keep: true },
];

export function dateOf(day: number): string {
  return new Date(Date.UTC(2026, 0, 1) + day * DAY_MS).toISOString();
}

export function madeFields(random: SeededRandom, list: Pick<MadeList, 'vocabulary'>, longest: number, place: number) {
  const fields: Record<string, Value> = {};
  for (const name of FIELDS) {
    const text = random.below(name === 'code' ? 2 : 12) === 0 ? '' : madeText(random, list.vocabulary, longest, place);
    if (text !== '') fields[name] = text;
  }
  if (random.below(5) > 0) fields['colour'] = COLOURS[Math.min(random.below(5), random.below(5))] as string;
  fields['tags'] = TAGS.filter(() => random.below(3) === 0);
  if (random.below(5) > 0) fields['price'] = random.below(2) === 0 ? random.below(10) : random.below(2000) / 100 - 5;
  fields['sizes'] = Array.from({ length: random.below(4) }, () => random.below(12));
  if (random.below(5) > 0) fields['active'] = random.below(10) > 0;
  if (random.below(5) > 0) fields['released'] = dateOf(random.below(300));
  if (random.below(8) > 0) fields['product'] = `p${Math.floor(400 * random.next() ** 3)}`;
  if (random.below(5) > 0) {
    fields['place'] = { latitude: random.below(1801) / 10 - 90, longitude: random.below(3600) / 10 - 180 };
  }
  return fields;
}

export interface MadeSize {
  readonly records: number;
  readonly segments: number;
}

export async function madeList(
  lists: ListsInFolder,
  random: SeededRandom,
  id: string,
  size: MadeSize,
): Promise<MadeList> {
  const searchable = FIELDS.slice(0, 1 + random.below(3));
  const weights = random.pick([
    [1, 1, 1],
    [3, 1, 1],
    [10, 3, 1],
    [1, 2, 5],
    [2.5, 1, 0.5],
    // Frequencies times weights are as high as the kernel counts.
    [400, 1, 1],
    [1, 700, 30],
  ]);
  const againPercent = random.pick([0, 0, 15, 70]);
  const hasVectors = random.below(3) === 0;
  const list = {
    id,
    settings: {
      ...LIST_SETTINGS,
      list: id,
      language: random.pick(['en', 'de', 'none', 'fr']),
      synonym_rules: random.below(2) === 0 ? SYNONYMS : [],
      query_rules: random.below(3) === 0 ? RULES : [],
      model: hasVectors ? 'own' : null,
    },
    definition: {
      searchable_fields: searchable.map((name, at) => ({ name, weight: weights[at] as number })),
      facets: FACETS.map((facet) => ({ ...facet })),
      resources: [],
      location_field: 'place',
      inferred: 'no',
    } satisfies FieldDefinition,
    vocabulary: madeVocabulary(random),
    records: new Map<string, MadeRecord>(),
    isRewritten: againPercent > 0,
  };
  const index = await lists.indexes.create(id, list.settings, list.definition);
  const longest = random.pick([10, 100, size.records > 5000 ? 600 : 3000]);
  const commits = 1 + random.below(size.segments);
  for (let commit = 0; commit < commits; ++commit) {
    const count = Math.max(1, commit === 0 ? Math.floor(size.records / 2) : Math.floor(size.records / 2 / commits));
    const written = Array.from({ length: count }, (_, at): MadeRecord => {
      // Some records are written again, which deletes what is in an earlier segment.
      const isAgain = list.records.size > 0 && random.below(100) < againPercent;
      const number = isAgain ? random.below(list.records.size) : list.records.size + at;
      const vector = hasVectors && random.below(10) > 0 ? { vector: Array.from(madeVector(random)) } : {};
      return { name: `r${number}`, fields: madeFields(random, list, longest, at / count), ...vector };
    });
    for (const record of written) list.records.set(record.name, record);
    await push(index, written);
  }
  if (hasVectors && list.records.size >= CALIBRATED_MIN) await calibrated(index);
  return { ...list, index };
}

/** Near one of three directions. */
export function madeVector(random: SeededRandom): Float32Array {
  const direction = random.below(3);
  return Float32Array.from({ length: DIMENSIONS }, (_, at) => random.below(100) / 200 + (at === direction ? 1 : 0));
}

/** What vectors at random have in common is measured beside the writes, and scores depend on it. */
async function calibrated(index: ListIndex): Promise<void> {
  await eventually(
    () => Promise.resolve(index.searchedBy(1)?.calibration?.vectorCount ?? 0),
    (count) => count > 0,
  );
}

export async function push(index: ListIndex, records: readonly MadeRecord[]): Promise<void> {
  const session = index.startImport('ndjson');
  await session.push(Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join('')));
  const { failed, errors } = await session.end();
  if (failed > 0) throw new Error(JSON.stringify(errors));
}
