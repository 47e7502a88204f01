/**
 * Compares hits of vector graphs with an exact comparison: by graph, by graph with a filter, and one by one, in a
 * list that is new, has two fifths deleted and more added, is merged, copied, rebuilt, stopped and killed, alone and
 * in a group. For more or other vectors: `GANNET_MODEL_VECTORS=40000 GANNET_MODEL_QUERIES=20 GANNET_MODEL_SEED=7 npx
 * vitest run test/model/vector-graphs.test.ts`.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { SeededRandom } from '../support/random.js';
import { startTestService, type TestService } from '../support/service.js';
import { ExactVectors, type Near, type VectorRecord } from './exact-vectors.js';
import type { Scale } from './reference-vectors.js';

/**
 * Halves of these are written one after the other, each too small for a graph of its own, and merged at once: a
 * segment with more than 4,000 has a graph, which is searched if there are more than 6,400, and pieces of unequal
 * sizes are merged only after ten seconds without a write.
 */
const VECTORS = Number(process.env['GANNET_MODEL_VECTORS'] ?? 6600);
const SEED = Number(process.env['GANNET_MODEL_SEED'] ?? 1);
/** In a usual run there are few queries, and after the first step only two filters. */
const QUERIES = Number(process.env['GANNET_MODEL_QUERIES'] ?? 2);
const IS_SHORT = QUERIES <= 2;
/** A filter is prepared when it comes for the third time. */
const QUERIES_AT_FIRST = Math.max(3, QUERIES);
const DIMENSIONS = Number(process.env['GANNET_MODEL_DIMENSIONS'] ?? 16);
const CENTRES = 40;
const SPREAD = 0.5;
const PLACES = 1000;
const TIMEOUT_MS = 3_600_000;
/** Scores are shown with six digits, and computed as sums of floats. */
const SCORE_TOLERANCE = 2e-5;
/** Recall of the ten nearest, as the mean over the queries of a filter. */
const RECALL_MIN = 0.9;
const RECALLED = 10;
/** Whether recall and ways of searching are printed. */
const SHOWS = process.env['GANNET_MODEL_SHOWS'] === '1';

interface Hit {
  readonly name: string;
  readonly list_name?: string;
  readonly '@text_score': number;
  readonly explain: {
    readonly meaning: Scale;
    readonly sources: readonly { readonly kind: string; readonly way?: string }[];
  };
}
interface Found {
  readonly total_count: number;
  readonly results: readonly Hit[];
  readonly facets: Readonly<Record<string, readonly { readonly value: string; readonly count: number }[]>>;
}
interface Member {
  readonly list: string;
  exact: ExactVectors;
}
/** A version of a list, or a group of several lists. */
interface Searched {
  readonly path: string;
  readonly members: readonly Member[];
}
interface Asked {
  readonly near: readonly number[];
  readonly filter: Filter;
}
interface Filter {
  readonly text: string | undefined;
  holds(this: void, record: VectorRecord): boolean;
}

/** Filters that pass at random all, most, a third or a tenth; and one that passes one side. */
const FILTERS: readonly Filter[] = [
  { text: undefined, holds: () => true },
  { text: 'place < 900', holds: ({ place }) => place < 900 },
  { text: 'place >= 650', holds: ({ place }) => place >= 650 },
  { text: 'place < 100', holds: ({ place }) => place < 100 },
  { text: 'side = "right"', holds: ({ side }) => side === 'right' },
];

const SOME_FILTERS = IS_SHORT ? FILTERS.slice(0, 2) : FILTERS;

const random = new SeededRandom(SEED);
let service: TestService;
let made = 0;

function gaussian(): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}
const centres = Array.from({ length: CENTRES }, () => Array.from({ length: DIMENSIONS }, gaussian));
const vector = () => random.pick(centres).map((each) => each + SPREAD * gaussian());

/** Makes a record; one in ten has several vectors. */
function record(name = `r${(made += 1)}`): VectorRecord {
  const vectors = Array.from({ length: random.below(10) === 0 ? 3 : 1 }, vector);
  const side = (vectors[0]?.[0] ?? 0) > 0 ? 'right' : 'left';
  return { name, place: random.below(PLACES), side, vectors };
}
const records = (count: number) => Array.from({ length: count }, () => record());

const sent = ({ name, place, side, vectors }: VectorRecord) => ({ name, fields: { place, side }, vectors });

async function put({ list, exact }: Member, some: readonly VectorRecord[]): Promise<void> {
  const { status, text, body } = await service.client.bulk('default', list, some.map(sent));
  expect([status, (body as { failed: number }).failed], text).toEqual([200, 0]);
  exact.put(some);
}

async function search(path: string, body: object): Promise<Found> {
  const common = { explain: true, highlight: false, facets: ['side'], size: 1000, cache: false };
  const { status, text, body: found } = await service.client.post(`/search/${path}`, { ...common, ...body });
  expect(status, text).toBe(200);
  return found as Found;
}
const waysOf = ({ results }: Found) =>
  new Set(results.flatMap(({ explain }) => explain.sources.flatMap(({ way }) => way ?? [])));

/** Waits for the graph: before that all vectors are compared one by one, as small segments always are. */
async function graphIsMade(path: string): Promise<void> {
  const probe = vector();
  await eventually(
    () => search(path, { vector: probe }),
    (found) => waysOf(found).has('graph'),
  );
}

/** Checks that hits are exactly those of the reference; at the end, another one that is as near may replace one. */
function compareExactly(what: string, hits: readonly Hit[], expected: readonly Near[]): void {
  const names = new Set(hits.map(({ name }) => name));
  const near = new Set(expected.map(({ name }) => name));
  const least = (expected.at(-1)?.score ?? 0) + SCORE_TOLERANCE;
  const missing = expected.filter(({ name, score }) => !names.has(name) && score > least);
  const besides = hits.filter((hit) => !near.has(hit.name) && hit['@text_score'] > least);
  expect([missing, besides.map(({ name }) => name)], `${what}: missing, and too many`).toEqual([[], []]);
  expect(Math.abs(hits.length - expected.length), `${what}: total_count`).toBeLessThanOrEqual(1);
}

/** Checks that each hit is in the list, passes the filter, and has the score of its nearest vector. */
function compareHits(what: string, hits: readonly Hit[], { exact }: Member, { near, filter }: Asked): void {
  const strange = hits.filter(({ name }) => !exact.passes(name, filter.holds));
  expect(
    strange.map(({ name }) => name),
    `${what}: not in the list, or filtered out`,
  ).toEqual([]);
  const scores = hits.map(
    (hit) => [hit.name, hit['@text_score'], exact.scoreOf(hit.name, near, hit.explain.meaning)] as const,
  );
  const off = scores.filter(([, said, should]) => !(Math.abs(said - should) <= SCORE_TOLERANCE));
  expect(off, `${what}: scores`).toEqual([]);
}

function compareCounts(what: string, { total_count: total, results, facets }: Found): void {
  const counted = (facets['side'] ?? []).reduce((sum, { count }) => sum + count, 0);
  const distinct = new Set(results.map(({ name, list_name: list }) => `${list} ${name}`)).size;
  expect([total, counted, distinct], `${what}: total_count, facets, distinct hits`).toEqual(
    Array(3).fill(results.length),
  );
  const scores = results.map((hit) => hit['@text_score']);
  expect(scores, `${what}: order`).toEqual(scores.toSorted((left, right) => right - left));
}

class Recall {
  #found = 0;
  #wanted = 0;
  readonly ways = new Set<string>();

  add(hits: readonly Hit[], expected: readonly Near[]): void {
    const first = expected.slice(0, RECALLED);
    const names = new Set(hits.slice(0, RECALLED).map(({ name }) => name));
    this.#found += first.filter(({ name }) => names.has(name)).length;
    this.#wanted += first.length;
  }

  get share(): number {
    return this.#found / this.#wanted;
  }
}

async function ask(what: string, searched: Searched, asked: Asked, recall: Recall): Promise<void> {
  const body = { vector: asked.near, ...(asked.filter.text !== undefined && { filter: asked.filter.text }) };
  const all = await search(searched.path, { ...body, exact: true });
  const some = await search(searched.path, body);
  for (const way of waysOf(some)) recall.ways.add(way);
  for (const found of [all, some]) compareCounts(what, found);
  for (const member of searched.members) {
    const own = ({ results }: Found) => results.filter((hit) => (hit.list_name ?? member.list) === member.list);
    for (const found of [all, some]) compareHits(`${what}, ${member.list}`, own(found), member, asked);
    const scale = own(all)[0]?.explain.meaning;
    if (scale === undefined) continue;
    const expected = member.exact.nearest(asked.near, asked.filter.holds, scale);
    compareExactly(`${what}, ${member.list}`, own(all), expected);
    recall.add(own(some), expected);
  }
}

/** Resolves with the ways of searching that were used. */
async function check(
  label: string,
  searched: Searched,
  { filters = SOME_FILTERS, queries = QUERIES } = {},
): Promise<Set<string>> {
  const ways = new Set<string>();
  for (const filter of filters) {
    const recall = new Recall();
    const what = `${label}, ${filter.text ?? 'all'}, seed ${SEED}`;
    for (let query = 0; query < queries; query += 1)
      await ask(`${what}, query ${query}`, searched, { near: vector(), filter }, recall);
    if (SHOWS) console.log(what, recall.share, [...recall.ways].join());
    expect(recall.share, what).toBeGreaterThan(RECALL_MIN);
    for (const way of recall.ways) ways.add(way);
  }
  return ways;
}

beforeAll(async () => {
  service = await startTestService({
    env: { GANNET_LOG_LEVEL: 'error', GANNET_SEARCH_RATE_PER_MINUTE: '1000000000', GANNET_INGEST_MERGE_FAN_IN: '2' },
  });
});
afterAll(() => service.close());

const FACETS = [
  { name: 'place', type: 'number' },
  { name: 'side', type: 'string' },
];

async function create(list: string): Promise<Member> {
  const definition = { language: 'none', model: 'own', searchable_fields: [{ name: 'title' }], facets: FACETS };
  const { status, text } = await service.client.post('/list/default', { name: list, ...definition });
  expect(status, text).toBe(201);
  return { list, exact: new ExactVectors() };
}

const isDeleted = ({ place }: VectorRecord) => place % 5 < 2;

async function deleteTwoFifths({ list, exact }: Member): Promise<void> {
  const places = Array.from({ length: PLACES }, (_, place) => place).filter((place) => place % 5 < 2);
  let deleted = 0;
  for (let from = 0; from < places.length; from += 100) {
    const filter = `place in (${places.slice(from, from + 100).join(', ')})`;
    const { body } = await service.client.delete(`/search-result/default/${list}`, { filter });
    deleted += (body as { deleted: number }).deleted;
  }
  expect(deleted).toBe(exact.delete(isDeleted));
}

/** Kills the service during writes: records found afterwards stay, and all acknowledged ones must be among them. */
async function killAmidWrites({ list, exact }: Member): Promise<void> {
  const parts = Array.from({ length: 4 }, () => records(200));
  const sending = parts.map(async (part) => {
    const answer = await service.client.bulk('default', list, part.map(sent)).catch(() => undefined);
    return answer?.status === 200 ? part : [];
  });
  await Promise.race(sending);
  await service.stop('SIGKILL');
  await service.start();
  const acknowledged = (await Promise.all(sending)).flat();
  exact.put(parts.flat());
  const there = new Set(await namesIn(list));
  expect(acknowledged.filter(({ name }) => !there.has(name))).toEqual([]);
  exact.delete(({ name }) => !there.has(name));
  expect(there.size).toBe(exact.size);
}

async function namesIn(list: string): Promise<string[]> {
  const names: string[] = [];
  let after: string | undefined;
  do {
    const page = await service.client.get(`/search-result/default/${list}`, { size: 1000, ...(after && { after }) });
    const { results, next } = page.body as { results: { name: string }[]; next?: string };
    names.push(...results.map(({ name }) => name));
    after = next;
  } while (after !== undefined);
  return names;
}

/** Builds a version while searches go on; resolves when it is the current one. */
async function buildVersion({ list }: Member, beside: Searched): Promise<void> {
  const facets = [...FACETS, { name: 'more', type: 'string' }];
  expect((await service.client.put(`/list/default/${list}`, { facets })).status).toBe(200);
  await check('beside a version that is built', beside);
  await eventually(
    async () => (await service.client.get(`/list/default/${list}`)).body as { current_version: number },
    ({ current_version: current }) => current === 2,
  );
}

/** Runs all further steps of a list, and of lists next to it. */
async function furtherSteps(near: Member, first: Searched): Promise<void> {
  await graphIsMade(first.path);
  await check('two fifths deleted, and merged', first);
  await put(near, records(VECTORS / 2));
  for (const each of records(5)) await put(near, [each]);
  const changed = near.exact.names.slice(0, 300).map((name) => record(name));
  await put(near, changed);
  await check('more added, and some changed', first);
  await service.stop();
  await service.start();
  await graphIsMade(first.path);
  await check('started again', first);
  await buildVersion(near, first);
  const frozen: Member = { list: 'near', exact: near.exact.copy() };
  await put(near, records(50));
  const second: Searched = { path: 'default/near/2', members: [near] };
  await graphIsMade(second.path);
  await check('a version that was built', second);
  await check('the version before it', { path: first.path, members: [frozen] });
}

it(`Graphs find the nearest of ${VECTORS} vectors as an exact comparison does`, { timeout: TIMEOUT_MS }, async () => {
  const near = await create('near');
  const first: Searched = { path: 'default/near/1', members: [near] };
  for (let half = 0; half < 2; half += 1) await put(near, records(VECTORS / 2));
  await graphIsMade(first.path);
  const ways = await check('new', first, { filters: FILTERS, queries: QUERIES_AT_FIRST });
  expect([...ways]).toEqual(expect.arrayContaining(['graph', 'filtered graph', 'scan']));
  await deleteTwoFifths(near);
  await check('two fifths deleted', first);
  if (!IS_SHORT) await furtherSteps(near, first);
  await killAmidWrites(near);
  const now: Searched = { path: `default/near/${IS_SHORT ? 1 : 2}`, members: [near] };
  await check('killed', now);
  expect((await service.client.post('/list/default/near/clone', { name: 'copy' })).status).toBe(201);
  const copy: Member = { list: 'copy', exact: near.exact.copy() };
  await put(copy, records(100));
  await check('cloned', { path: 'default/copy/1', members: [copy] });
  const group = { name: 'both', lists: [{ list: 'near' }, { list: 'copy' }] };
  expect((await service.client.post('/list-group/default', group)).status).toBe(201);
  await check('in a group', { path: 'group/default/both/latest', members: [near, copy] });
});
