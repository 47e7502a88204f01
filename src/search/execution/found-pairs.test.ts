/** Pairs of a text and a query that people expect to meet, and some that they do not, on one real list with the real kernel. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import { listFixtures, searchTask, type ListFixtures } from '../../../test/support/lists.js';
import type { FieldDefinition } from '../../catalog/index.js';
import { RecordStoreCache } from '../../records/index.js';
import { ResponseWriter } from '../response/response-writer.js';
import { StoreRecordReader } from './record-reader.js';
import { SearchExecutor } from './search-executor.js';

const DEFINITION: FieldDefinition = {
  searchable_fields: [{ name: 'text', weight: 1 }],
  facets: [],
  resources: [],
  location_field: null,
  inferred: 'no',
  language: 'en',
};

/** A text, a query in which `"…"` is a phrase and anything else all of its words, and what is marked; null where nothing is to be found. */
type Pair = readonly [text: string, query: string, marked: readonly string[] | null];

const PAIRS: readonly Pair[] = [
  ['See example.com first', 'example', ['example']],
  ['See https://www.example.com/some-page today', 'example', ['example']],
  ['See https://www.example.com/some-page today', 'example.com', ['example', 'com']],
  ['See https://www.example.com/some-page today', '"some page"', ['some', 'page']],
  ['Write to jane.doe@example.org', 'jane', ['jane']],
  ['Write to jane.doe@example.org', 'doe', ['doe']],
  ['Write to jane.doe@example.org', '"Jane Doe"', ['jane', 'doe']],
  ['Write to jane.doe@example.org', 'jane.doe@example.org', ['jane.doe', 'example.org']],
  ['report_2024.pdf', 'report', ['report']],
  ['report_2024.pdf', 'report 2024', ['report', '2024']],
  ['/srv/files/report.pdf', 'report', ['report']],
  ['/srv/files/report.pdf', 'report.pdf', ['report.pdf']],
  ['Ｒｅｐｏｒｔ＿２０２４', '2024', ['２０２４']],
  ['The first_name of a person', 'name', ['name']],
  ['The first_name of a person', '"first name"', ['first', 'name']],
  ['The first_name of a person', 'firstname', ['first_name']],
  ['The first name of a person', 'first_name', ['first', 'name']],
  ['Call parseJson on it', 'json', ['Json']],
  ['Call parseJson on it', '"parse json"', ['parseJson']],
  ['Call parseJson on it', 'parse_json', ['parseJson']],
  ['Call parse_json on it', 'parseJson', ['parse_json']],
  ['Call parse json on it', 'parseJson', ['parse', 'json']],
  ['Call utils.parseJson_fast on it', 'parsejson', ['parseJson']],
  ['Call utils.parseJson_fast on it', '"utils parsejson"', ['utils', 'parseJson']],
  ['Call utils.parseJson_fast on it', '"json fast"', ['Json', 'fast']],
  ['java.lang.NullPointerException', '"null pointer"', ['Null', 'Pointer']],
  ['The getElementById method', 'element', ['Element']],
  ['Use lodash.debounce here', 'lodash', ['lodash']],
  ['status:open', 'open', ['open']],
  ['Use node.js here', '"node js"', ['node', 'js']],
  ['Use node js here', 'node.js', ['node', 'js']],
  ['Use node.js here', 'nodejs', ['node.js']],
  ['Use node.js here', 'node.js', ['node.js']],
  ['пример.рф/страница', 'пример', ['пример']],
  ['The end.Then more', 'then', ['Then']],
  // Numbers, initials and names stay whole.
  ['Version 4.2 costs 3.5', '4.2', ['4.2']],
  ['Version 4.2 costs 3.5', '42', null],
  ['Version 4.2 costs 3.5', '2', null],
  ['In the U.S.A. today', 'usa', ['U.S.A']],
  ['In the U.S.A. today', 's', null],
  ['A JavaScript file', 'java', null],
  ['An iPhone call', 'phone', null],
  // The parts of two words, and of two fields, are no neighbours.
  ['mail.jane and doe.mail', '"jane doe"', null],
];

interface Response {
  readonly results: readonly { readonly name: string; readonly highlights: Record<string, string> }[];
}

let fixtures: ListFixtures;
const stores = new RecordStoreCache();
const reader = new StoreRecordReader(stores);
const executor = new SearchExecutor(kernel, reader);

beforeAll(async () => {
  fixtures = await listFixtures();
});
afterAll(async () => {
  await stores.close();
  await fixtures.close();
});

it('finds the words that people expect, and marks them', async () => {
  const texts = [...new Set(PAIRS.map(([text]) => text))];
  const records = texts.map((text, index) => ({ name: `${index}`, text }));
  const list = await fixtures.add('pairs', DEFINITION, records, { language: 'en' });
  const found = PAIRS.map(([text, query]): Pair => {
    const match = query.startsWith('"') ? 'phrase' : 'all';
    const writer = new ResponseWriter();
    const options = { query: query.replaceAll('"', ''), match, size: 1000, typo_tolerance: false } as const;
    executor.execute(searchTask({ list }, options), writer);
    reader.release();
    const { results } = JSON.parse(Buffer.from(writer.take()).toString()) as Response;
    const hit = results.find(({ name }) => name === `${texts.indexOf(text)}`);
    return [text, query, hit === undefined ? null : marksOf(hit.highlights['text'] ?? '')];
  });
  expect(found).toEqual(PAIRS);
});

function marksOf(html: string): readonly string[] {
  return [...html.matchAll(/<em>(.*?)<\/em>/gu)].map(([, marked = '']) => marked);
}
