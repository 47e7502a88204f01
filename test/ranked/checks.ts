/** Compares the answers of one list with each other, and with the reference. */
import type { SearchOptions } from '../../src/search/index.js';
import type { SeededRandom } from '../support/random.js';
import { holdsTrue, same } from '../model/difference.js';
import { styleOf, writeFilter } from '../model/reference-filter.js';
import { madePlan } from './made-plans.js';
import type { OtherOptions, WordOptions } from './made-searches.js';
import { expectedFacet, expectedHits, type Expected, type Match } from './reference.js';
import type { Found, Planned, SearchedList } from './searched-list.js';

const SIZES = [1, 2, 3, 10, 100, 1000];
const CONTRIBUTION_ERROR_MAX = 2e-5;

/** Counts what was compared, for the report of a run. */
export const compared = { searches: 0, words: 0, options: 0, answers: 0, plans: 0, meaning: 0, pages: 0, skipping: 0 };

export function optionsOf(words: WordOptions, others: OtherOptions, style = 0): SearchOptions {
  const { filter, radius, box, order, ranking, distinct, facets, facetSize, disjunctive, minimum } = others;
  const keys = order?.map(({ field, descending }) => `${field} ${descending ? 'desc' : 'asc'}`);
  return {
    ...words,
    ...(filter && { filter: writeFilter(filter, styleOf(style)) }),
    ...(radius && { radius }),
    ...(box && { box }),
    ...(keys && ranking === undefined && { order_by: keys.join(',') }),
    ...(ranking && { ranking }),
    ...(distinct !== undefined && { distinct }),
    ...(facets && { facets }),
    ...(facetSize !== undefined && { facet_size: facetSize }),
    ...(others.facetQuery !== undefined && { facet_query: others.facetQuery }),
    ...(minimum !== undefined && { minimum_text_score: minimum }),
    ...(disjunctive === true && { disjunctive_facets: true }),
  };
}

type Row = readonly [number: number, score: number];

const rows = ({ numbers, scores }: Found): Row[] => numbers.map((number, hit) => [number, scores[hit] as number]);

function sameRows(what: string, actual: readonly Row[], expected: readonly Row[]): void {
  const at = Array.from({ length: Math.max(actual.length, expected.length) }).findIndex((_, hit) => {
    return actual[hit]?.[0] !== expected[hit]?.[0] || actual[hit]?.[1] !== expected[hit]?.[1];
  });
  if (at < 0) return;
  const [some, others] = [actual.slice(at, at + 5), expected.slice(at, at + 5)];
  same(`${what}: hits from ${at} of ${actual.length} and ${expected.length}`, some, others);
}

/** Returns the hits without any bar, after looking at their scores and order. */
export function checkedBase(searched: SearchedList, words: WordOptions): Found {
  const found = searched.run(searched.plan(words));
  same('total of all hits', found.total, found.numbers.length);
  same('distinct records', new Set(found.numbers).size, found.numbers.length);
  found.scores.forEach((score, hit) => {
    holdsTrue('score in 0..1', score > 0 && score <= 1, () => [found.numbers[hit], score]);
    const [before, number] = [found.scores[hit - 1] ?? 1, found.numbers[hit - 1] ?? -1];
    const isBehind = score < before || (score === before && number < (found.numbers[hit] as number));
    holdsTrue('order by score and number', isBehind, () => [hit, before, score]);
  });
  return found;
}

/** The best hits, which are found by passing over others, are the first of all hits. */
export function checkWindows(searched: SearchedList, plan: Planned, all: Found, random: SeededRandom): void {
  const expected = rows(all);
  const window = (skip: number, size: number, needsTotal: boolean) => {
    const found = searched.run(plan, { skip, size, needsTotal });
    compared.searches += 1;
    const what = `skip ${skip}, size ${size}, ${needsTotal ? 'counted' : 'not counted'}`;
    sameRows(what, rows(found), expected.slice(skip, skip + size));
    if (!needsTotal) return;
    same(`total with ${what}`, found.total, all.total);
    same(`facets with ${what}`, [found.facets, found.ranges], [all.facets, all.ranges]);
  };
  for (const size of SIZES) {
    if (size > 3 && size / 10 > expected.length) break;
    window(0, size, true);
    window(0, size, false);
  }
  for (let page = 0; page < 2; ++page) {
    const skip = random.below(Math.min(expected.length, random.pick([10, 1000, 100_000])) + 3);
    window(skip, random.below(random.pick([4, 30, 2000])), random.below(2) === 0);
  }
  window(0, 0, true);
  compared.skipping += expected.length > 1000 ? 1 : 0;
}

/** Hits whose score reaches the floor. */
export function checkFloor(searched: SearchedList, plan: Planned, all: Found, random: SeededRandom): void {
  if (all.numbers.length === 0) return;
  const floor = all.scores[Math.min(random.below(all.scores.length), random.below(all.scores.length))] as number;
  const expected = rows(all).filter(([, score]) => score >= floor);
  const needsTotal = random.below(2) === 0;
  const found = searched.run(plan, { floor, needsTotal });
  sameRows(`floor ${floor}`, rows(found), expected);
  const size = 1 + random.below(20);
  const few = searched.run(plan, { floor, needsTotal, size });
  sameRows(`floor ${floor}, size ${size}`, rows(few), expected.slice(0, size));
  if (needsTotal) same('totals with a floor', [found.total, few.total], [expected.length, expected.length]);
  compared.searches += 2;
}

/** A record is found alone, by its name, as among all others, or not. */
export function checkAlone(searched: SearchedList, words: WordOptions, all: Found, random: SeededRandom): void {
  const found = new Map(rows(all));
  const numbers = [...searched.recordsByNumber.keys()];
  const few = [random.pick(numbers), random.pick(numbers), ...all.numbers.slice(0, 1)];
  if (all.numbers.length > 0) few.push(random.pick(all.numbers));
  for (const number of few) {
    const { name } = searched.recordsByNumber.get(number) ?? { name: '' };
    const alone = rows(searched.run(searched.plan({ ...words, filter: `name = '${name}'` }), { size: 1 }));
    const score = found.get(number);
    sameRows(`the record ${name} alone`, alone, score === undefined ? [] : [[number, score]]);
    compared.searches += 1;
  }
}

/** What the explanation of a score adds up is the score: it is computed hit by hit. */
export function checkExplained(searched: SearchedList, words: WordOptions, all: Found): void {
  const explained = searched.run(searched.plan({ ...words, explain: true }), { size: 5 });
  sameRows('explained hits', rows(explained), rows(all).slice(0, 5));
  if (explained.explanations === '') return;
  const parts = JSON.parse(explained.explanations) as unknown[];
  parts.forEach((part, hit) => {
    const numbers = [...JSON.stringify(part).matchAll(/"contribution":([-\d.e]+)/g)].map(([, text]) => Number(text));
    if (numbers.length === 0) return;
    const sum = numbers.reduce((before, number) => before + number, 0);
    const error = Math.abs(sum - (explained.scores[hit] as number));
    holdsTrue('contributions', error <= CONTRIBUTION_ERROR_MAX, () => [sum, explained.scores[hit], part]);
  });
  compared.searches += 1;
}

export interface Checked {
  readonly searched: SearchedList;
  readonly words: WordOptions;
  readonly base: readonly Match[];
  readonly random: SeededRandom;
}

/** With any other options, the hits are those of the words that pass, in their order. */
export function checkOptions({ searched, words, base, random }: Checked, others: OtherOptions): Found {
  const plan = searched.plan(optionsOf(words, others, random.below(1000)));
  const all = searched.run(plan);
  const expected: Expected = expectedHits(base, others);
  const isScored = others.ranking === undefined;
  const expectedRows = expected.hits.map(({ number, score }): Row => [number, isScored ? score : 1]);
  sameRows('all hits with options', isScored ? rows(all) : rows(all).map(([number]) => [number, 1]), expectedRows);
  same('total with options', all.total, expected.matches.length);
  if (others.distinct === undefined && others.disjunctive !== true) {
    const facets = (all.facets === '' ? {} : JSON.parse(all.facets)) as Record<string, unknown>;
    for (const name of others.facets ?? []) same(`facet ${name}`, facets[name], expectedFacet(base, others, name));
  }
  checkWindows(searched, plan, all, random);
  compared.options += 1;
  return all;
}

/** Of a plan with excluded words and any weights. */
export function checkPlan(searched: SearchedList, random: SeededRandom): void {
  const plan = { bytes: madePlan(random, searched.list), meaning: undefined };
  const all = searched.run(plan);
  for (const score of all.scores) holdsTrue('score in 0..1', score >= 0 && score <= 1, () => score);
  checkWindows(searched, plan, all, random);
  compared.plans += 1;
}

/** With a vector besides the words, or alone: also a record that only meaning finds is on the page that is its own. */
export function checkMeaning({ searched, words, random }: Checked, others: OtherOptions, vector: Float32Array): Found {
  // The approximate index looks for what passes a filter in another way once the filter comes again.
  const isNarrow = others.filter !== undefined || others.radius !== undefined || others.box !== undefined;
  const exact = isNarrow || random.below(2) === 0;
  const plan = searched.plan({ ...optionsOf(words, others), exact }, vector);
  const all = searched.run(plan);
  if (others.distinct === undefined) same('total with a vector', all.total, all.numbers.length);
  for (const score of all.scores) holdsTrue('score in 0..1', score > 0 && score <= 1, () => score);
  checkWindows(searched, plan, all, random);
  const isByScore = others.order === undefined && others.distinct === undefined && others.minimum === undefined;
  if (isByScore) checkFloor(searched, plan, all, random);
  compared.meaning += 1;
  return all;
}
