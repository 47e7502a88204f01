/**
 * What the service can be taught by a new file and one row each: a kind of field, an option of a search, and a feature with two
 * operations and a worker. They are added to a copy of the built package, and everything else has to follow from them.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExtendedPackage } from '../support/extended-package.js';
import { startTestService, type TestService } from '../support/service.js';

const run = promisify(execFile);
const extended = new ExtendedPackage();
let service: TestService;

beforeAll(async () => {
  extended.add('duration-kind.ts', 'fields/kinds');
  const kind = "import { durationKind } from './kinds/duration-kind.js';";
  extended.row(
    'fields/field-kinds.js',
    'FIELD_KINDS = [stringKind, numberKind, booleanKind, dateKind',
    ', durationKind',
    kind,
  );

  extended.add('only-with-option.ts', 'search/options');
  const option = "import { onlyWith } from './only-with-option.js';";
  extended.row('search/options/search-options.js', 'export const SEARCH_OPTIONS = {', 'only_with: onlyWith,', option);

  for (const file of ['feature.ts', 'echo.worker.ts', 'echo-protocol.ts']) extended.add(`echo/${file}`, 'echo');
  extended.row('main.js', 'const FEATURES = [', "async () => (await import('./echo/feature.js')).echo,");

  service = await startTestService({ packageRoot: extended.root });
});

afterAll(async () => {
  await service.stop();
  extended.remove();
});

async function gannet(...args: string[]): Promise<string> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GANNET_'));
  const env = { ...Object.fromEntries(inherited), GANNET_DATA_DIR: service.dataDir };
  const { stdout } = await run(process.execPath, ['bin/gannet.js', ...args], { cwd: extended.root, env });
  return stdout;
}

interface Found {
  readonly results: readonly { readonly name: string }[];
}

async function names(list: string, options: Readonly<Record<string, unknown>>): Promise<string[]> {
  const { status, body, text } = await service.client.post(`/search/default/${list}/1`, options);
  expect(status, text).toBe(200);
  return (body as Found).results.map(({ name }) => name);
}

describe('a new kind of field', () => {
  const FILMS = [
    { name: 'short', fields: { runs: 'PT45M' } },
    { name: 'middle', fields: { runs: 'PT1H5M' } },
    { name: 'long', fields: { runs: 'PT100M' } },
  ];

  it('is defined, filtered by, sorted by and checked', async () => {
    const facets = [{ name: 'runs', type: 'duration', cardinality: 'Single' }];
    const made = await service.client.post('/list/default', { name: 'films', facets });
    expect(made.status, made.text).toBe(201);
    expect(made.body).toMatchObject({ facets });
    await service.client.bulk('default', 'films', FILMS);
    expect(await names('films', { order_by: 'runs desc' })).toEqual(['long', 'middle', 'short']);
    expect(await names('films', { filter: "runs >= 'PT1H'", order_by: 'runs' })).toEqual(['middle', 'long']);

    const wrong = await service.client.post('/search-result/default/films', { name: 'x', fields: { runs: 'an hour' } });
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain('is a duration facet and takes a length of time such as PT1H30M');
    const unreadable = await service.client.post('/search/default/films/1', { filter: "runs > '1h'" });
    expect(unreadable.text).toContain('is no length of time; expected one such as PT1H30M');
  });

  it('is inferred, read from CSV and captured by a query rule', async () => {
    await service.client.post('/list/default', { name: 'inferred' });
    await service.client.bulk('default', 'inferred', 'name,runs\nshort,PT45M\nlong,PT2H\n', 'text/csv');
    const { body } = await service.client.get('/list/default/inferred');
    expect(body).toMatchObject({ facets: [{ name: 'runs', type: 'duration', cardinality: 'Single' }] });
    const rule = { name: 'at least', pattern: '(pt\\d+h)', filter: 'runs >= $1' };
    const changed = await service.client.put('/list/default/inferred', { query_rules: [rule] });
    expect(changed.status, changed.text).toBe(200);
    expect(await names('inferred', { query: 'PT1H' })).toEqual(['long']);
  });
});

describe('a new option of a search', () => {
  it('narrows searches by query string and body, is described, and is refused where it is wrong', async () => {
    await service.client.post('/list/default', { name: 'years', facets: [{ name: 'year', type: 'number' }] });
    await service.client.bulk('default', 'years', [
      { name: 'dated', fields: { year: 1984 } },
      { name: 'undated', fields: {} },
    ]);
    expect(await names('years', { only_with: 'year' })).toEqual(['dated']);
    expect((await names('years', {})).sort()).toEqual(['dated', 'undated']);
    const byQuery = await service.client.get('/search/default/years/1', { only_with: 'year' });
    expect((byQuery.body as Found).results).toHaveLength(1);
    const wrong = await service.client.post('/search/default/years/1', { only_with: 7 });
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('only_with')]);
    expect(await gannet('call', 'search.list', '--help')).toContain('Keeps records that have a value of this facet');
  });
});

describe('a new feature', () => {
  it('answers over HTTP through its worker, for those who may', async () => {
    expect((await service.client.post('/echo/default', { text: 'gannet' })).body).toEqual({ text: 'tennag' });
    expect((await service.client.post('/echo/default', { text: 7 })).status).toBe(400);
    expect((await service.clientWith(undefined).get('/echo/default')).status).toBe(401);
    const searcher = await service.clientFor({ access: 'search-and-read' });
    expect((await searcher.get('/echo/default')).status).toBe(403);
    expect((await service.client.get('/echo/default')).body).toEqual({ count: 1 });
    expect(await service.metric('gannet_echoes_total')).toBe(1);
  });

  it('is in the OpenAPI document and on the command line, with the service and without', async () => {
    const { body } = await service.clientWith(undefined).get('/openapi.json');
    const { paths } = body as { readonly paths: Readonly<Record<string, object>> };
    expect(Object.keys(paths['/echo/{account}'] ?? {})).toEqual(expect.arrayContaining(['get', 'post']));
    expect(await gannet('call')).toMatch(/^echo\.say +POST \/echo\/\{account\}/m);
    expect(await gannet('call', 'echo.say', '--help')).toContain('What is said');
    expect(JSON.parse(await gannet('call', 'echo.say', '--param', 'text=abc'))).toEqual({ text: 'cba' });
    expect(await service.stop()).toBe(0);
    expect(JSON.parse(await gannet('call', 'echo.say', '--param', 'text=abc'))).toEqual({ text: 'cba' });
  });
});
