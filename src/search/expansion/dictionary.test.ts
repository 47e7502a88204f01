/** What dictionaries keep from generation to generation, compared with dictionaries that have kept nothing yet. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DocumentBatchWriter } from '../../../native-bindings/document-batch.js';
import { kernel, type SegmentHandle } from '../../../native-bindings/index.js';
import { SeededRandom } from '../../../test/support/random.js';
import { Dictionaries, type WordForms } from './dictionary.js';

const SCHEMA = { textFields: [{ name: 'text', weightUnits: 1 }], columns: [], language: 'en' };
const ROOTS = ['connect', 'relat', 'nation', 'study', 'gannet', 'of', 'xr500'];
const ENDINGS = ['', 's', 'ed', 'ing', 'ion', 'ions'];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'gannet-dictionary-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function segmentOf(texts: readonly string[], number: number): SegmentHandle {
  const batch = new DocumentBatchWriter();
  texts.forEach((text, index) => {
    batch.begin(number * 1000 + index);
    batch.text(0, text);
    batch.end();
  });
  const file = path.join(folder, `${number}.mdb`);
  kernel.buildSegment(file, SCHEMA, batch.finish());
  return kernel.openSegment(file);
}

/** Returns a word that the list may have, with a typo now and then. */
function randomWord(random: SeededRandom): string {
  const word = random.pick(ROOTS) + random.pick(ENDINGS);
  if (random.below(3) > 0) return word;
  const place = random.below(word.length);
  return word.slice(0, place) + random.pick(['', 'a', 'n']) + word.slice(place + 1) || word;
}

test('Kept expansions are right in every generation, and few words are looked up again', () => {
  const random = new SeededRandom(11);
  const sentence = () => Array.from({ length: 3 }, () => randomWord(random)).join(' ');
  let expanded = 0;
  const dictionaries = new Dictionaries({
    documentFrequencies: (...args) => kernel.documentFrequencies(...args),
    findSplits: (...args) => kernel.findSplits(...args),
    areNeighbours: (...args) => kernel.areNeighbours(...args),
    completeWord: (...args) => kernel.completeWord(...args),
    nameExpansions: (...args) => kernel.nameExpansions(...args),
    vocabulary: (...args) => kernel.vocabulary(...args),
    affectedWords: (...args) => kernel.affectedWords(...args),
    expand: (generation, words, options) => {
      expanded += words.length;
      return kernel.expand(generation, words, options);
    },
  });
  const large = segmentOf(Array.from({ length: 300 }, sentence), 1);
  let generation = kernel.publishGeneration({ add: [{ segment: large }], settings: '{}' });
  let small: SegmentHandle[] = [];
  let asked = 0;
  for (let round = 0; round < 60; ++round) {
    const words = Array.from({ length: 10 }, () => randomWord(random));
    const withTypos = round % 4 > 0;
    asked += words.length;
    const fresh = new Dictionaries(kernel).of(generation).forms(words, withTypos);
    expect(dictionaries.of(generation).forms(words, withTypos)).toEqual(fresh);

    const added = segmentOf([sentence()], round + 2);
    // Every so often the small segments are removed, as by a merge.
    const remove = small.length >= 8 ? small : [];
    const next = kernel.publishGeneration({ base: generation, add: [{ segment: added }], remove });
    kernel.releaseGeneration(generation);
    for (const segment of remove) kernel.closeSegment(segment);
    small = [...small.slice(remove.length), added];
    generation = next;
  }
  kernel.releaseGeneration(generation);
  for (const segment of [large, ...small]) kernel.closeSegment(segment);
  expect(expanded).toBeLessThan(asked / 2);
});

test('Words are not looked up again after writes that do not affect them', () => {
  const random = new SeededRandom(12);
  const sentence = () => Array.from({ length: 3 }, () => randomWord(random)).join(' ');
  let named = 0;
  const dictionaries = new Dictionaries({
    documentFrequencies: (...args) => kernel.documentFrequencies(...args),
    findSplits: (...args) => kernel.findSplits(...args),
    areNeighbours: (...args) => kernel.areNeighbours(...args),
    completeWord: (...args) => kernel.completeWord(...args),
    vocabulary: (...args) => kernel.vocabulary(...args),
    affectedWords: (...args) => kernel.affectedWords(...args),
    expand: (...args) => kernel.expand(...args),
    nameExpansions: (generation, words, options) => {
      named += words.length;
      return kernel.nameExpansions(generation, words, options);
    },
  });
  const large = segmentOf(Array.from({ length: 2000 }, sentence), 2001);
  let generation = kernel.publishGeneration({ add: [{ segment: large }], settings: '{}' });
  const small: SegmentHandle[] = [];
  let asked = 0;
  for (let round = 0; round < 30; ++round) {
    const words = [...new Set(Array.from({ length: 10 }, () => randomWord(random)))];
    asked += words.length;
    const fresh = new Dictionaries(kernel).of(generation).forms(words, true);
    const forms = dictionaries.of(generation).forms(words, true);
    // Frequencies of terms only decide the order of equally plausible ones.
    expect(forms.map(outlineOf)).toEqual(fresh.map(outlineOf));
    const added = segmentOf([round % 3 === 0 ? `cormorant${'abcdefghij'[round / 3] ?? ''}` : sentence()], 2002 + round);
    const changedTerms = kernel.newTerms(generation, added);
    const next = kernel.publishGeneration({
      base: generation,
      add: [{ segment: added, ...(changedTerms === undefined ? {} : { changedTerms }) }],
    });
    kernel.releaseGeneration(generation);
    small.push(added);
    generation = next;
  }
  expect(dictionaries.of(generation).forms(['cormoranta'], true)[0]?.isKnown).toBe(true);
  kernel.releaseGeneration(generation);
  for (const segment of [large, ...small]) kernel.closeSegment(segment);
  expect(named).toBeLessThan(asked * 0.7);
});

function outlineOf({ isKnown, stems, typos }: WordForms) {
  return { isKnown, stems: stems.toSorted(), typos: typos.map(({ term }) => term).toSorted() };
}

test('A word that a write added is known to the next generation, and not to the one before', () => {
  const dictionaries = new Dictionaries(kernel);
  const before = segmentOf(['cliff'], 1001);
  const first = kernel.publishGeneration({ add: [{ segment: before }], settings: '{}' });
  expect(dictionaries.of(first).forms(['gannet'], true)[0]).toEqual({
    isKnown: false,
    stems: [],
    compounds: [],
    typos: [],
  });
  const written = segmentOf(['gannets'], 1002);
  const second = kernel.publishGeneration({ base: first, add: [{ segment: written }] });
  expect(dictionaries.of(second).forms(['gannet'], true)[0]).toMatchObject({ isKnown: true, stems: ['gannets'] });
  expect(dictionaries.of(first).forms(['gannet'], true)[0]?.isKnown).toBe(false);
  for (const generation of [first, second]) kernel.releaseGeneration(generation);
  for (const segment of [before, written]) kernel.closeSegment(segment);
});

test('Everything kept for many lists and generations shares one limit', () => {
  let name = 0;
  const dictionaries = new Dictionaries({
    documentFrequencies: () => new Uint32Array(),
    findSplits: () => new Uint32Array(),
    areNeighbours: () => false,
    completeWord: () => [],
    vocabulary: (generation: number) => ({ name: generation, root: generation % 40 }),
    affectedWords: (_generation: number, words: readonly string[]) => new Uint8Array(words.length),
    nameExpansions: (_generation: number, words: readonly string[]) => Float64Array.from(words, () => (name += 1)),
    expand: (_generation: number, words: readonly string[]) =>
      words.map(() => ({ documentFrequency: 1, stems: [], typos: [], compounds: [], prefixes: [] })),
  });
  const words = Array.from({ length: 520 }, (_, number) => `word${number}`);
  const most = { words: 0, answers: 0 };
  for (let generation = 1; generation <= 300; generation += 1) {
    const dictionary = dictionaries.of(generation);
    dictionary.forms(words, true);
    for (const word of words.slice(0, 6)) dictionary.kept('itself', word, () => [word]);
    for (const word of words.slice(6, 10)) dictionary.keptPair(word, 'next', () => [word]);
    expect(dictionary.kept('itself', 'word5', () => ['made anew'])).toEqual(['word5']);
    expect(dictionary.keptPair('word9', 'next', () => ['made anew'])).toEqual(['word9']);
    expect(dictionary.kept('word9', 'next', () => ['another question'])).toEqual(['another question']);
    const { sizes } = dictionaries;
    most.words = Math.max(most.words, sizes.words);
    most.answers = Math.max(most.answers, sizes.answers);
  }
  // The limits hold for the 20,800 words of 40 lists, and for 3300 answers, most of which are never asked for again.
  expect(most).toEqual({ words: 31 * 520, answers: 2816 });
  const [latest = ''] = words;
  const dictionary = dictionaries.of(301);
  for (let number = 0; number < 20_000; number += 1) dictionary.keptPair('latest', `${number}`, () => [latest]);
  expect(dictionaries.sizes.answers).toBeLessThanOrEqual(16_384);
});
