/**
 * Tests the extension points of the service, each with a new file and one row: a kind of field, a search option, and
 * a feature with operations, work in the background, a worker, a setting, an event, an environment and commands. They are added to a copy
 * of the package, and everything else must follow from them.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExtendedPackage } from '../support/extended-package.js';
import { FORMAT_KEY } from '../../src/platform/index.js';
import { open } from '../../src/platform/lmdb.js';
import { startTestService, TestService } from '../support/service.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';

const run = promisify(execFile);
const extended = new ExtendedPackage();
const ENVIRONMENT = { GANNET_ECHO_TEXT_CHARACTERS_MAX: '20', GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true' };
let service: TestService;
let receiver: WebhookReceiver;

beforeAll(async () => {
  extended.add('duration-kind.ts', 'fields/kinds');
  const kind = "import { durationKind } from './kinds/duration-kind.js';";
  extended.row(
    'fields/field-kinds.ts',
    'FIELD_KINDS = [stringKind, numberKind, booleanKind, dateKind',
    ', durationKind',
    kind,
  );

  extended.add('only-with-option.ts', 'search/options');
  const option = "import { onlyWith } from './only-with-option.js';";
  extended.row('search/options/search-options.ts', 'export const SEARCH_OPTIONS = {', 'only_with: onlyWith,', option);

  for (const file of readdirSync(new URL('examples/echo', import.meta.url))) extended.add(`echo/${file}`, 'echo');
  extended.row(
    'features.ts',
    'FEATURES: readonly Feature[] = [',
    'echo, ',
    "import { echo } from './echo/feature.js';",
  );

  extended.build();
  receiver = await WebhookReceiver.start();
  service = await startTestService({ packageRoot: extended.root, env: ENVIRONMENT });
});

afterAll(async () => {
  await service.stop();
  await receiver.close();
  extended.remove();
});

async function gannet(...args: string[]): Promise<string> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GANNET_'));
  const env = { ...Object.fromEntries(inherited), ...ENVIRONMENT, GANNET_DATA_DIR: service.dataDir };
  const { stdout } = await run(process.execPath, ['bin/gannet.js', ...args], { cwd: extended.root, env });
  return stdout;
}

/** Returns what doctor prints, whatever problems it finds on this machine. */
async function doctor(): Promise<string> {
  return gannet('doctor').catch((failure: unknown) => (failure as { readonly stdout: string }).stdout);
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

  it('can be defined, filtered by, sorted by and checked in writes', async () => {
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

  it('is counted in its written form by lists and groups, and a counted value can be filtered by', async () => {
    await service.client.post('/list/default', {
      name: 'plays',
      facets: [{ name: 'runs', type: 'duration', cardinality: 'Many' }],
    });
    await service.client.bulk('default', 'plays', [{ name: 'play', fields: { runs: ['PT120M', 'PT45M'] } }]);
    await service.client.post('/list-group/default', { name: 'shows', lists: [{ list: 'films' }, { list: 'plays' }] });
    const countsOf = async (path: string) => {
      const { status, body, text } = await service.client.post(path, { facets: ['runs'], size: 0 });
      expect(status, text).toBe(200);
      const { facets, facet_ranges } = body as { facets: { runs: { value: string }[] }; facet_ranges: unknown };
      return { values: facets.runs.map(({ value }) => value), facet_ranges };
    };
    const films = await countsOf('/search/default/films/1');
    expect(films.values).toEqual(['PT45M', 'PT1H5M', 'PT1H40M']);
    expect(films.facet_ranges).toEqual({ runs: { min: 'PT45M', max: 'PT1H40M' } });
    const shows = await countsOf('/search/group/default/shows/1');
    expect([shows.values[0], shows.facet_ranges]).toEqual(['PT45M', { runs: { min: 'PT45M', max: 'PT2H' } }]);
    for (const value of films.values) expect(await names('films', { filter: `runs = '${value}'` })).toHaveLength(1);
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

describe('a new search option', () => {
  it('narrows searches in query string and body, is documented, and is refused if it is wrong', async () => {
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
  it('answers over HTTP through its worker, with the permission for it', async () => {
    expect((await service.client.post('/echo/default', { text: 'gannet' })).body).toEqual({ text: 'tennag' });
    expect((await service.client.post('/echo/default', { text: 7 })).status).toBe(400);
    expect((await service.clientWith(undefined).get('/echo/count/default')).status).toBe(401);
    const searcher = await service.clientFor({ access: 'search-and-read' });
    expect((await searcher.get('/echo/count/default')).status).toBe(403);
    expect((await service.client.get('/echo/count/default')).body).toEqual({ count: 1 });
    expect(await service.metric('gannet_echoes_total')).toBe(1);
  });

  it('has its own errors', async () => {
    const loud = await service.client.post('/echo/default', { text: 'LOUD' });
    expect([loud.status, loud.body]).toMatchObject([422, { code: 'too-loud', title: 'That is too loud' }]);
  });

  it('has permissions that keys and presets include, and that are suggested for similar names', async () => {
    const sayer = await service.clientFor({ permissions: ['echo:say'] });
    expect((await sayer.post('/echo/default', { text: 'abc' })).status).toBe(200);
    expect((await sayer.get('/echo/count/default')).status).toBe(403);
    const reader = await service.clientFor({ access: 'read-all' });
    expect((await reader.get('/echo/count/default')).status).toBe(200);
    const wrong = gannet('key', 'create', '--permissions', 'echo:sya');
    await expect(wrong).rejects.toMatchObject({ stderr: expect.stringContaining('"echo:say"') as string });
  });

  it('has a setting that is read, documented, and refused if it is wrong', async () => {
    expect((await service.client.post('/echo/default', { text: 'x'.repeat(21) })).text).toContain('20 characters');
    const described = await gannet('settings');
    expect(described).toContain(
      '[echo]\n# Longest text that is said backwards, in characters.\ntext_characters_max = 50',
    );
    expect(described).toContain('# GANNET_ECHO_TEXT_CHARACTERS_MAX');
    const env = { GANNET_ECHO_TEXT_CHARACTERS_MAX: '0' };
    const wrong = await startTestService({ packageRoot: extended.root, env }).catch(String);
    expect(wrong).toContain('echo.text_characters_max is "0"');
  });

  it('sends its events to subscribers', async () => {
    const { body } = await service.client.get('/webhook/events');
    expect((body as { events: unknown[] }).events).toContainEqual({
      type: 'echo.said',
      description: 'Something was said',
      fires: true,
    });
    const made = await service.client.post('/webhook', { url: receiver.url(), events: ['echo.said'] });
    expect(made.status, made.text).toBe(201);
    await service.client.post('/echo/default', { text: 'heard' });
    expect(await receiver.events(1)).toEqual([['echo.said', { id: 'default', list: '', data: { text: 'heard' } }]]);
  });

  it('is notified of commits along with existing features', async () => {
    const made = await service.client.post('/webhook', { url: receiver.url(), events: ['list.created'] });
    expect(made.status, made.text).toBe(201);
    const before = await service.metric('gannet_echoes_heard_total');
    await service.client.post('/list/default', { name: 'heard' });
    expect(await service.metric('gannet_echoes_heard_total')).toBe(before + 1);
    expect((await receiver.events(2)).at(-1)).toMatchObject(['list.created', { list: 'heard' }]);
  });

  it('is in the OpenAPI document, with its agent tools, errors and events', async () => {
    const { body } = await service.clientWith(undefined).get('/openapi.json');
    const { paths, webhooks, components } = body as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>;
      readonly webhooks: object;
      readonly components: { readonly schemas: { readonly Problem: unknown } };
    };
    expect(paths['/echo/{account}']?.['post']).toMatchObject({
      'x-agent-tool': 'echo_say',
      'x-permission': 'echo:say',
    });
    expect(paths['/echo/count/{account}']?.['get']).toMatchObject({ 'x-agent-tool': 'echo_how_often' });
    expect(Object.keys(webhooks)).toContain('echo.said');
    expect(JSON.stringify(components.schemas.Problem)).toContain('"too-loud"');
  });

  it('has commands whose arguments and help come from its operations', async () => {
    expect(await gannet('call')).toMatch(/^echo\.say +POST \/echo\/\{account\}/m);
    expect(await gannet('call', 'echo.say', '--help')).toContain('What is said');
    expect(JSON.parse(await gannet('echo', 'say', 'abc'))).toEqual({ text: 'cba' });
    expect(await gannet('echo', 'say', '--help')).toMatch(/<text>[^]*say a text backwards[^]*what is said/);
    expect(await gannet('echo', 'count')).toMatch(/^Said: \d+\n$/);
    expect(await gannet('--help')).toContain('echo');
    await expect(gannet('echo', 'say')).rejects.toMatchObject({ code: 2 });
  });

  it('reports the progress of its jobs to callers with permission', async () => {
    const cave = { kind: 'listening', name: 'the cave', state: 'running', total: null };
    // Deliveries and imports of earlier tests may be reported as well.
    const told = async (client: Pick<typeof service.client, 'get'>) => {
      const { jobs } = (await client.get('/progress/default')).body as { readonly jobs: { readonly kind: string }[] };
      return jobs.filter(({ kind }) => kind === 'listening');
    };
    expect(await told(service.client)).toMatchObject([cave]);
    expect(await told(await service.clientFor({ access: 'search-and-read' }))).toEqual([]);
    expect(await gannet('progress')).toMatch(/^listening +the cave +running/m);
  });

  it('adds a setting and a member to lists, which are copied, returned and kept', async () => {
    const made = await service.client.post('/list/default', { name: 'voices', echo_voice: 'a cave' });
    expect(made.body).toMatchObject({ echo_voice: 'a cave', echoes: { count: expect.any(Number) as number } });
    const sentBack = await service.client.put('/list/default/voices', made.body);
    expect(sentBack.status, sentBack.text).toBe(200);
    await service.client.put('/list/default/voices', { language: 'none' });
    await service.client.post('/list/default/voices/clone', { name: 'copy' });
    expect((await service.client.get('/list/default/copy')).body).toMatchObject({ echo_voice: 'a cave' });
    const all = (await service.client.get('/list/default')).body as { lists: { name: string; echo_voice: string }[] };
    const voiceOf = (list: string) => all.lists.find(({ name }) => name === list)?.echo_voice;
    expect([voiceOf('voices'), voiceOf('films')]).toEqual(['a cave', 'nobody']);
    const sea = await service.client.put('/list/default/voices', { echo_voice: 'the sea' });
    expect([sea.status, sea.text]).toEqual([422, expect.stringContaining('no voice of its own')]);
    expect((await service.client.put('/list/default/voices', { echo_voice: 7 })).status).toBe(400);
    expect((await service.client.get('/list/default/voices')).body).toMatchObject({ echo_voice: 'a cave' });
  });

  it('does in the background what it was asked for, once, also if the process is killed meanwhile', async () => {
    const made = await service.client.post('/webhook', { url: receiver.url('/later'), events: ['echo.said'] });
    expect(made.status, made.text).toBe(201);
    const asked = await service.client.post('/echo/default/later', { text: 'killed', seconds: 2 });
    expect(asked.status, asked.text).toBe(202);
    await service.stop('SIGKILL');
    await service.start();
    await receiver.events(1, '/later');
    await service.client.post('/echo/default/later', { text: 'alive', seconds: 0 });
    const heard = (await receiver.events(2, '/later')).map(([, body]) => body.data);
    expect(heard).toEqual([
      { text: 'killed', said: 'dellik' },
      { text: 'alive', said: 'evila' },
    ]);
  });

  it('works without the service, and doctor checks its data on disk', async () => {
    const { count } = (await service.client.get('/echo/count/default')).body as { readonly count: number };
    expect(await service.stop()).toBe(0);
    expect(JSON.parse(await gannet('call', 'echo.say', '--param', 'text=abc'))).toEqual({ text: 'cba' });
    expect(JSON.parse(await gannet('echo', 'count', '--json'))).toEqual({ count: count + 1 });
    expect(await doctor()).toMatch(/✓ Data of echoes +\S+ has format 2/);
  });

  it('upgrades what an earlier release of it wrote', async () => {
    const { count } = JSON.parse(await gannet('echo', 'count', '--json')) as { readonly count: number };
    const root = open({ path: join(service.dataDir, 'echo'), noSubdir: false, maxDbs: 64 });
    root.putSync(FORMAT_KEY, { kind: 'echo', number: 1, made_by: '0.1.0' });
    await root.close();
    expect(await doctor()).toMatch(/✓ Data of echoes .*has format 1; the next start upgrades it to 2/);
    expect(JSON.parse(await gannet('echo', 'count', '--json'))).toEqual({ count: count * 12 });
    expect(JSON.parse(await gannet('echo', 'count', '--json'))).toEqual({ count: count * 12 });
  });

  it('whose environment has another format is found by doctor, and stops the start', async () => {
    const root = open({ path: join(service.dataDir, 'echo'), noSubdir: false, maxDbs: 64 });
    root.putSync(FORMAT_KEY, { kind: 'echo', number: 3, made_by: '99.0.0' });
    await root.close();
    const sentence = 'has format 3, and this release reads format 2';
    expect(await doctor()).toMatch(/✗ Data of echoes .*has format 3/);
    const { dataDir } = service;
    expect(await startTestService({ packageRoot: extended.root, dataDir }).catch(String)).toContain(sentence);
  });

  it('reserves words of its paths, which cannot be names of accounts', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'gannet-reserved-'));
    const reserved = new TestService(dataDir, {
      dataDir,
      packageRoot: extended.root,
      env: { GANNET_ACCOUNT_NAME: 'count' },
    });
    await expect(reserved.start()).rejects.toThrow("'count' is reserved and cannot be the name of an account");
    rmSync(dataDir, { recursive: true });
  });
});
