/**
 * Tests that the console can do everything that the service can: each operation is called by a page, or is listed
 * here with a reason.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { functionName } from '../../src/client/index.js';
import { allOperations } from '../../src/main.js';

const APP = join(import.meta.dirname, '..', '..', 'src', 'console', 'app');

const SAME_BY_POST = 'a search by query string; pages send the same options as a body';
const CLICKS =
  'clicks are those of the users of a program: who mends a search in the console would count as one of them';
const SHORTER_WAY = 'the list itself has it, and pages read that';

const LEFT_OUT: Readonly<Record<string, string>> = {
  'openapi.read': 'a description for programs; the pages are made of the same registry',
  'api-key.create-read-only': 'a key makes a smaller one of itself; people make keys of any kind',
  'facet.list': SHORTER_WAY,
  'searchable-field.list': SHORTER_WAY,
  'resource.list': SHORTER_WAY,
  'list-group.read': 'the list of groups has each as a whole',
  'model.read': 'the list of models has each as a whole',
  'media-store.read': 'the list of stores has each as a whole',
  'feed.read': 'the list of feeds has each as a whole',
  'webhook.read': 'the list of webhooks has each as a whole',
  'search.list-by-query': SAME_BY_POST,
  'search.group-by-query': SAME_BY_POST,
  'suggest.list-by-query': SAME_BY_POST,
  'suggest.group-by-query': SAME_BY_POST,
  'analytics.click-list': CLICKS,
  'analytics.click-group': CLICKS,
};

/** Operations whose page is still missing: a new operation can be listed here, with what its page is to do. */
const NOT_YET: Readonly<Record<string, string>> = {};

const EXPLAINED: Readonly<Record<string, string>> = { ...LEFT_OUT, ...NOT_YET };

const operations = await allOperations();
const sources = readdirSync(APP, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name) && !name.endsWith('.test.ts'))
  .map((name) => readFileSync(join(APP, name), 'utf8'))
  .join('\n');
/**
 * Counts uses of the client's function: it is imported and used again, as a name that is only imported calls nothing.
 */
const uses = (name: string): number => [...sources.matchAll(new RegExp(`\\b${functionName(name)}\\b`, 'g'))].length;
/** Other operations cannot be called from a browser. */
const forConsole = operations.filter(({ callers }) => callers.includes('console'));

it('Every operation is called from a page, or has a reason not to be', () => {
  const missing = forConsole.filter(({ name }) => uses(name) < 2).map(({ name }) => name);
  expect(
    missing.filter((name) => !(name in EXPLAINED)),
    'No page of src/console/app calls these operations. Call each from a page (import its function from service/client.ts), ' +
      'or give a reason here: in LEFT_OUT where it needs no page, in NOT_YET where the page is still to be made',
  ).toEqual([]);
});

it('No listed exception is called by a page, or names an operation that does not exist', () => {
  const names = new Set(forConsole.map(({ name }) => name));
  expect(
    Object.keys(EXPLAINED).filter((name) => !names.has(name) || uses(name) > 0),
    'These stand in LEFT_OUT or NOT_YET, but a page calls them or they are no operations any more: take them out',
  ).toEqual([]);
});
