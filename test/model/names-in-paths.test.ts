/**
 * Tests fields and records with names that a path or an object could misinterpret: fields are created, renamed and
 * removed one by one at their paths, and records with these values are filtered, counted and read by name, and
 * compared with a list of what there should be. For another or a longer sequence: `GANNET_MODEL_SEED=7
 * GANNET_MODEL_STEPS=500 npx vitest run test/model/names-in-paths.test.ts`.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { SeededRandom } from '../support/random.js';
import { startTestService, type TestService } from '../support/service.js';

const SEED = Number(process.env['GANNET_MODEL_SEED'] ?? 1);
const STEPS = Number(process.env['GANNET_MODEL_STEPS'] ?? 6);
const TIMEOUT_MS = 3_600_000;
const LONGEST = 128;

const NAMES = [
  ...[
    '.',
    '..',
    '...',
    '/',
    '//',
    'a/b',
    '%',
    '%2F',
    '%2f',
    '%25',
    '%00',
    '?',
    '?a=b',
    '#',
    '&',
    '+',
    ' a',
    'a ',
    ';',
    ':',
    '\\',
    '*',
    "'",
    '"',
    '<b>',
  ],
  ...['é', 'e\u0301', '日本', 'עברית', '\u{1F600}', '\u200B', '\u202E', 'K', '\u212A', 'İ', 'ß', 'a\u0300\u0301\u0302'],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'null',
    'and',
    'not',
    'in',
    'true',
    'distance',
    'created_utc',
    'id',
    'fields',
    'list_name',
    '@text_score',
    '0',
    '-1',
  ],
  ...['x'.repeat(LONGEST), '日'.repeat(LONGEST)],
];

/** Leaves out names that a filter or an object could not have. */
const isField = (name: string) => /^(?!__proto__$)(?![@\s])[^'"`,]*(?<!\s)$/.test(name);
const FIELDS = NAMES.filter(isField);

const random = new SeededRandom(SEED);
let service: TestService;
/** The names of the facets, in their order. */
let facets: string[] = [];
/** By name of the record: the facets that it has a value of, each with the value. */
const records = new Map<string, Map<string, string>>();

beforeAll(async () => {
  service = await startTestService({ env: { GANNET_LOG_LEVEL: 'error' } });
  const list = { name: 'names', language: 'none', searchable_fields: [{ name: 'title' }], facets: [] };
  expect((await service.client.post('/list/default', list)).status).toBe(201);
});
afterAll(() => service.close());

interface List {
  readonly current_version: number;
  readonly facets: readonly { readonly name: string }[];
  readonly versions: readonly { readonly state: string }[];
}
const whole = () =>
  eventually(
    async () => (await service.client.get('/list/default/names')).body as List,
    ({ versions }) => versions.every(({ state }) => state === 'ready'),
  );

const pathOf = (name: string) => `/facet/default/names/${encodeURIComponent(name)}`;

async function create(name: string): Promise<void> {
  const { status, text } = await service.client.post('/facet/default/names', { name, type: 'string' });
  expect([status, status === 201 || status === 409 ? '' : text], name).toEqual([facets.includes(name) ? 409 : 201, '']);
  if (!facets.includes(name)) facets.push(name);
}

async function rename(from: string, to: string): Promise<void> {
  const { status, text } = await service.client.put(pathOf(from), { name: to });
  const expected = !facets.includes(from) ? 404 : from !== to && facets.includes(to) ? 409 : 200;
  expect([status, status === expected ? '' : text], `${from} to ${to}`).toEqual([expected, '']);
  if (status !== 200) return;
  facets = facets.map((each) => (each === from ? to : each));
  if (from === to) return;
  for (const fields of records.values()) {
    const value = fields.get(from);
    // A value that a record kept under that name from a removed facet stays if there is no value to replace it.
    if (value === undefined) continue;
    fields.delete(from);
    fields.set(to, value);
  }
}

async function remove(name: string): Promise<void> {
  const { status } = await service.client.delete(pathOf(name));
  expect(status, name).toBe(facets.includes(name) ? 204 : 404);
  facets = facets.filter((each) => each !== name);
}

/** Writes a record with one of the names. */
async function write(): Promise<void> {
  const name = random.pick(NAMES);
  const having = facets.filter(() => random.below(2) === 0);
  const fields = new Map(having.map((each) => [each, `value ${random.below(3)}`]));
  const { status, text } = await service.client.post('/search-result/default/names', {
    name,
    fields: Object.fromEntries(fields),
  });
  expect(status, text).toBe(records.has(name) ? 200 : 201);
  records.set(name, fields);
}

async function check(): Promise<void> {
  const list = await whole();
  expect(list.facets.map(({ name }) => name)).toEqual(facets);
  const search = `/search/default/names/${list.current_version}`;
  for (const facet of facets) {
    const filter = `\`${facet.replaceAll('`', '``')}\` = 'value 1'`;
    const { status, text, body } = await service.client.post(search, { filter, size: 1000, facets: [facet] });
    expect(status, `${filter}: ${text}`).toBe(200);
    const { results, facets: counted } = body as {
      results: { name: string; fields: Record<string, unknown> }[];
      facets: Record<string, { value: string; count: number }[]>;
    };
    const expected = [...records].filter(([, fields]) => fields.get(facet) === 'value 1').map(([name]) => name);
    expect(results.map(({ name }) => name).toSorted(), filter).toEqual(expected.toSorted());
    const values = Object.entries(counted).find(([name]) => name === facet)?.[1];
    expect(values, filter).toEqual(expected.length === 0 ? [] : [{ value: 'value 1', count: expected.length }]);
    const byOrder = await service.client.post(search, { order_by: `\`${facet}\` asc`, size: 1000 });
    expect(byOrder.status, byOrder.text).toBe(200);
  }
  const name = random.pick(NAMES);
  const { status } = await service.client.get(
    `/related/default/names/${list.current_version}/${encodeURIComponent(name)}`,
  );
  expect(status, name).toBe(records.has(name) ? 200 : 404);
}

it(`Fields and records with odd names are never confused, seed ${SEED}`, { timeout: TIMEOUT_MS }, async () => {
  for (let step = 0; step < STEPS; step += 1) {
    const drawn = random.below(10);
    if (drawn < 3) await create(random.pick(FIELDS));
    else if (drawn < 5) await rename(random.pick(facets.length > 0 ? facets : FIELDS), random.pick(FIELDS));
    else if (drawn < 6) await remove(random.pick(random.below(2) === 0 || facets.length === 0 ? FIELDS : facets));
    else for (let count = 0; count < 3; count += 1) await write();
    await check();
  }
});
