/**
 * Tests files that records link to: fetched and read once, checked for changes, shown as they are, and deleted with
 * their records.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { pdfOf } from '../support/pdf.js';
import { ScriptedServer } from '../support/scripted-server.js';
import { startTestService, type TestService } from '../support/service.js';

interface ResourcesState {
  readonly read: number;
  readonly pending: number;
  readonly failed: number;
  readonly errors: readonly { readonly url: string; readonly error: string; readonly detail: string }[];
}

interface DocumentText {
  readonly field: string;
  readonly url: string;
  readonly state: string;
  readonly page_count: number;
  readonly pages: readonly { readonly page: number; readonly text: string }[];
  readonly truncated: boolean;
  readonly error?: string;
}

interface Served {
  status?: number;
  headers?: Record<string, string>;
  bytes?: Uint8Array;
}

const DEFINITION = {
  model: 'own',
  searchable_fields: [{ name: 'title' }],
  resources: [
    { name: 'report', kind: 'document' },
    { name: 'annex', kind: 'document' },
  ],
};
const TOO_LARGE = 200_000;
const served = new Map<string, Served>();
let service: TestService;
let server: ScriptedServer;
let lists = 0;
let list = '';

beforeAll(async () => {
  server = await ScriptedServer.start();
  server.script = ({ path, headers }, response) => {
    const { status = 200, headers: own = {}, bytes } = served.get(path) ?? { status: 404 };
    const etag = own['etag'];
    if (etag !== undefined && headers['if-none-match'] === etag) response.writeHead(304, { etag }).end();
    else response.writeHead(status, own).end(bytes);
  };
  service = await startTestService({
    env: {
      GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
      GANNET_RESOURCES_RETRY_SECONDS: '1',
      GANNET_DOCUMENTS_BYTES_MAX: String(TOO_LARGE),
      GANNET_DOCUMENTS_PAGES_MAX: '3',
      GANNET_DOCUMENTS_SECONDS_MAX: '20',
    },
  });
});
afterAll(async () => {
  await service.close();
  await server.close();
});
beforeEach(async () => {
  lists += 1;
  list = `papers-${lists}`;
  served.clear();
  server.asked.splice(0);
  const made = await service.client.post('/list/default', { name: list, ...DEFINITION });
  expect(made.status).toBe(201);
});

const pdf = (...pages: string[]) => pdfOf(pages.map((line) => ({ lines: [line] })));
const urlOf = (path: string) => server.url(path);
const put = async (name: string, fields: Record<string, string>) => {
  const { status } = await service.client.post(`/search-result/default/${list}`, { name, fields });
  expect([200, 201]).toContain(status);
};
const stateOf = async (name = list): Promise<ResourcesState> => {
  const { body } = await service.client.get(`/list/default/${name}`);
  return (body as { resources_state: ResourcesState }).resources_state;
};
const settled = (name = list) =>
  eventually(
    () => stateOf(name),
    ({ pending }) => pending === 0,
  );
const textOf = async (record: string, query = {}): Promise<readonly DocumentText[]> => {
  const { status, body } = await service.client.get(`/search-result/document-text/default/${list}/${record}`, query);
  expect(status).toBe(200);
  return (body as { documents: readonly DocumentText[] }).documents;
};
const refresh = async (query = '') => {
  const { status, body } = await service.client.post(`/list/resources-refresh/default/${list}${query}`, undefined);
  expect(status).toBe(202);
  return (body as { queued: number }).queued;
};
const upload = (path: string, bytes: Uint8Array) =>
  service.client.send('PUT', `/media/default/default/${path}`, {
    bytes,
    headers: { 'content-type': 'application/pdf' },
  });
const askedFor = (path: string) => server.asked.filter((asked) => asked.path === path).length;

describe('documents of records', () => {
  it('are read page by page, and their text is returned for the record', async () => {
    served.set('/a.pdf', { bytes: pdf('Gannets dive', 'They nest on cliffs') });
    await put('one', { title: 'One', report: urlOf('/a.pdf#page=2') });
    expect(await settled()).toEqual({ read: 1, pending: 0, failed: 0, errors: [] });
    expect(await textOf('one')).toEqual([
      {
        field: 'report',
        url: urlOf('/a.pdf#page=2'),
        state: 'read',
        page_count: 2,
        pages: [
          { page: 1, text: 'Gannets dive' },
          { page: 2, text: 'They nest on cliffs' },
        ],
        truncated: false,
      },
    ]);
    const [first] = await textOf('one', { max_pages: 1 });
    expect(first).toMatchObject({ page_count: 2, truncated: true, pages: [{ page: 1 }] });
    const [rest] = await textOf('one', { first_page: 2, max_pages: 1 });
    expect(rest).toMatchObject({ page_count: 2, truncated: false, pages: [{ page: 2, text: 'They nest on cliffs' }] });
    const [none] = await textOf('one', { first_page: 9 });
    expect(none).toMatchObject({ page_count: 2, truncated: false, pages: [] });
  });

  it('are truncated after the number of pages that is read', async () => {
    served.set('/long.pdf', { bytes: pdf('one', 'two', 'three', 'four') });
    await put('long', { report: urlOf('/long.pdf') });
    await settled();
    const [document] = await textOf('long');
    expect(document).toMatchObject({ page_count: 4, truncated: true });
    expect(document?.pages).toHaveLength(3);
  });

  it('are fetched and read once for a thousand records with the same URL', async () => {
    served.set('/same.pdf', { bytes: pdf('The same for all') });
    const records = Array.from({ length: 1000 }, (_, number) => ({ name: `r${number}`, report: urlOf('/same.pdf') }));
    const { body } = await service.client.bulk('default', list, records);
    expect(body).toMatchObject({ created: 1000 });
    expect(await settled()).toMatchObject({ read: 1, failed: 0 });
    expect(askedFor('/same.pdf')).toBe(1);
    expect((await textOf('r999'))[0]?.pages[0]?.text).toBe('The same for all');
  });

  it('are refused without a model of the list, and for an unknown record', async () => {
    const plain = `${list}-plain`;
    await service.client.post('/list/default', { ...DEFINITION, name: plain, model: null });
    const refused = await service.client.get(`/search-result/document-text/default/${plain}/none`);
    expect(refused).toMatchObject({ status: 422, body: { code: 'model-required' } });
    const missing = await service.client.get(`/search-result/document-text/default/${list}/none`);
    expect(missing).toMatchObject({ status: 404, body: { code: 'record-not-found' } });
  });

  it('are returned for names with slashes', async () => {
    await put('2026/may/one', { title: 'No document' });
    expect(await textOf('2026/may/one')).toEqual([]);
  });
});

describe('a file that cannot be read', () => {
  it('is reported by a named error, and no write fails', async () => {
    served.set('/page.pdf', { bytes: Buffer.from('<!doctype html>') });
    served.set('/scan.pdf', { bytes: pdf('') });
    served.set('/large.pdf', { bytes: Buffer.alloc(TOO_LARGE + 1) });
    served.set('/damaged.pdf', { bytes: Buffer.from('%PDF-1.7\nnothing else') });
    served.set('/inside.pdf', { status: 302, headers: { location: 'https://10.0.0.1/secret.pdf' } });
    served.set('/loop.pdf', { status: 302, headers: { location: '/loop.pdf' } });
    served.set('/busy.pdf', { status: 503 });
    const expected: Record<string, string> = {
      [urlOf('/page.pdf')]: 'not-a-pdf',
      [urlOf('/scan.pdf')]: 'no-text',
      [urlOf('/large.pdf')]: 'too-large',
      [urlOf('/damaged.pdf')]: 'damaged',
      [urlOf('/inside.pdf')]: 'refused-address',
      [urlOf('/loop.pdf')]: 'not-found',
      [urlOf('/gone.pdf')]: 'not-found',
      [urlOf('/busy.pdf')]: 'timed-out',
      'http://example.com/plain.pdf': 'refused-address',
      'https://169.254.169.254/latest.pdf': 'refused-address',
      'media:default/missing.pdf': 'not-found',
      'media:nowhere/missing.pdf': 'not-found',
      'media:default/../../etc/passwd': 'not-found',
    };
    for (const [place, url] of Object.keys(expected).entries()) await put(`r${place}`, { report: url });
    const { errors, failed, read } = await settled();
    expect({ failed, read }).toEqual({ failed: Object.keys(expected).length, read: 0 });
    expect(Object.fromEntries(errors.map(({ url, error }) => [url, error]))).toEqual(expected);
    expect(errors.every(({ detail }) => detail.endsWith('.'))).toBe(true);
    expect(await textOf('r0')).toMatchObject([{ state: 'failed', error: 'not-a-pdf', pages: [], page_count: 0 }]);
  });

  it('is read when it is available again, and its error is cleared', async () => {
    await put('late', { report: urlOf('/late.pdf') });
    expect(await settled()).toMatchObject({ failed: 1 });
    served.set('/late.pdf', { bytes: pdf('Here it is') });
    expect(await refresh('?failed=true')).toBe(1);
    expect(await settled()).toEqual({ read: 1, pending: 0, failed: 0, errors: [] });
    expect(await refresh('?failed=true')).toBe(0);
    served.delete('/late.pdf');
    await refresh();
    expect(await settled()).toMatchObject({ read: 0, failed: 1 });
    expect((await textOf('late'))[0]).toMatchObject({ error: 'not-found', pages: [] });
  });

  it('keeps the text that was read before if its host fails for a while', async () => {
    served.set('/out.pdf', { bytes: pdf('Before the outage') });
    await put('out', { report: urlOf('/out.pdf') });
    await settled();
    served.set('/out.pdf', { status: 500 });
    await refresh();
    expect(await settled()).toMatchObject({ read: 0, failed: 1, errors: [{ error: 'timed-out' }] });
    expect((await textOf('out'))[0]).toMatchObject({ error: 'timed-out', pages: [{ text: 'Before the outage' }] });
    served.set('/out.pdf', { bytes: pdf('After it') });
    await refresh('?failed=true');
    expect(await settled()).toMatchObject({ read: 1, failed: 0, errors: [] });
    expect((await textOf('out'))[0]?.pages[0]?.text).toBe('After it');
  });

  it('is not requested again before the time of Retry-After', async () => {
    const script = server.script;
    const askedMs: number[] = [];
    server.script = (asked, response) => {
      askedMs.push(performance.now());
      if (askedMs.length === 1) response.writeHead(429, { 'retry-after': '2' }).end();
      else script(asked, response);
    };
    served.set('/soon.pdf', { bytes: pdf('Now') });
    await put('soon', { report: urlOf('/soon.pdf') });
    expect(await settled()).toMatchObject({ read: 1 });
    server.script = script;
    const [first = 0, second = 0] = askedMs;
    expect(second - first).toBeGreaterThan(1900);
  });
});

describe('files of media stores', () => {
  it('are read again as soon as they change', async () => {
    await upload('m.pdf', pdf('First'));
    await put('m', { report: 'media:default/m.pdf' });
    expect(await settled()).toMatchObject({ read: 1 });
    const text = async () => (await textOf('m'))[0];
    expect((await text())?.pages[0]?.text).toBe('First');
    await upload('m.pdf', pdf('Second'));
    await eventually(text, (document) => document?.pages[0]?.text === 'Second');
    await service.client.delete('/media/default/default/m.pdf');
    await eventually(text, (document) => document?.error === 'not-found' && document.pages.length === 0);
    await upload('m.pdf', pdf('Third'));
    await eventually(text, (document) => document?.pages[0]?.text === 'Third');
  });
});

describe('the text of a document', () => {
  it('is deleted with the last record that links to the document', async () => {
    served.set('/a.pdf', { bytes: pdf('A') });
    served.set('/b.pdf', { bytes: pdf('B') });
    await put('one', { report: urlOf('/a.pdf'), annex: urlOf('/b.pdf') });
    await put('two', { report: urlOf('/a.pdf') });
    expect(await settled()).toMatchObject({ read: 2 });
    await put('one', { report: urlOf('/missing.pdf') });
    expect(await settled()).toMatchObject({ read: 1, failed: 1 });
    await put('one', { title: 'Without' });
    expect(await settled()).toEqual({ read: 1, pending: 0, failed: 0, errors: [] });
    const { body } = await service.client.get(`/search-result/default/${list}`);
    for (const { id } of (body as { results: { id: string }[] }).results)
      await service.client.delete(`/search-result/default/${list}/${id}`);
    expect(await settled()).toEqual({ read: 0, pending: 0, failed: 0, errors: [] });
  });

  it('is used for records that link to the document later, without another request', async () => {
    served.set('/a.pdf', { bytes: pdf('A') });
    await put('one', { report: urlOf('/a.pdf') });
    await settled();
    await put('two', { annex: urlOf('/a.pdf') });
    await settled();
    expect((await textOf('two'))[0]).toMatchObject({ field: 'annex', pages: [{ text: 'A' }] });
    expect(askedFor('/a.pdf')).toBe(1);
  });

  it('stays when fields change, and is copied with the list', async () => {
    served.set('/a.pdf', { bytes: pdf('A') });
    await put('one', { report: urlOf('/a.pdf') });
    await settled();
    const changed = { ...DEFINITION, searchable_fields: [{ name: 'title', weight: 2 }] };
    expect((await service.client.put(`/list/default/${list}`, changed)).status).toBe(200);
    await eventually(
      async () =>
        ((await service.client.get(`/list/default/${list}`)).body as { current_version: number }).current_version,
      (version) => version === 2,
    );
    expect((await textOf('one'))[0]?.pages[0]?.text).toBe('A');
    list = await cloneOf(list);
    expect(await settled(list)).toMatchObject({ read: 1, pending: 0 });
    expect((await textOf('one'))[0]?.pages[0]?.text).toBe('A');
    expect(askedFor('/a.pdf')).toBeLessThanOrEqual(2);
  });

  it('is requested again with the ETag that the server gave', async () => {
    served.set('/a.pdf', { bytes: pdf('A'), headers: { etag: '"1"' } });
    await put('one', { report: urlOf('/a.pdf') });
    await settled();
    list = await cloneOf(list);
    await eventually(
      () => Promise.resolve(askedFor('/a.pdf')),
      (times) => times === 2,
    );
    expect(server.asked.at(-1)?.headers['if-none-match']).toBe('"1"');
    expect(await settled(list)).toMatchObject({ read: 1 });
    expect((await textOf('one'))[0]?.pages[0]?.text).toBe('A');
  });
});

interface Hit {
  readonly name: string;
  readonly explain?: unknown;
  readonly '@document_score'?: number;
  readonly document?: {
    readonly field: string;
    readonly url: string;
    readonly page: number;
    readonly page_count: number;
    readonly highlight?: string;
  };
}

const search = async (query: string, options = {}) => {
  const { status, body } = await service.client.post(`/search/default/${list}/1`, { query, ...options });
  expect(status).toBe(200);
  return body as { total_count: number; results: readonly Hit[] };
};
const found = async (query: string, options = {}) =>
  (await search(query, options)).results.map(({ name, document }) => [name, document?.page]);

describe('searches in documents', () => {
  it('find a record by the best page of its documents, and say which page', async () => {
    served.set('/a.pdf', { bytes: pdf('Gannets dive at full speed', 'They nest on steep cliffs') });
    served.set('/b.pdf', { bytes: pdf('Puffins nest in burrows') });
    await put('gannets', { title: 'Seabirds', report: urlOf('/a.pdf') });
    await put('puffins', { title: 'Seabirds', annex: urlOf('/b.pdf') });
    await put('neither', { title: 'Cliffs of chalk' });
    await settled();
    const { results, total_count: total } = await search('steep cliffs', { match: 'all' });
    expect(total).toBe(1);
    expect(results[0]).toMatchObject({
      name: 'gannets',
      document: { field: 'report', url: urlOf('/a.pdf'), page: 2, page_count: 2 },
    });
    expect(results[0]?.document?.highlight).toContain('<em>cliffs</em>');
    expect(results[0]?.['@document_score']).toBeGreaterThan(0);
    expect(await found('burows')).toEqual([['puffins', 1]]);
    expect(await found('full speed', { match: 'phrase' })).toEqual([['gannets', 1]]);
    expect((await found('cliffs')).map(([name]) => name).sort()).toEqual(['gannets', 'neither']);
  });

  it('explain the state of the files of each hit', async () => {
    served.set('/a.pdf', { bytes: pdf('Gannets dive') });
    await put('one', { title: 'Seabirds', report: urlOf('/a.pdf'), annex: urlOf('/missing.pdf') });
    await put('two', { title: 'Seabirds' });
    await settled();
    const explained = async (options = {}) => {
      const { results } = await search('seabirds', { explain: true, ...options });
      return Object.fromEntries(
        results.map(({ name, explain }) => [name, (explain as { resources?: unknown }).resources]),
      );
    };
    const expected = {
      one: [
        { field: 'report', url: urlOf('/a.pdf'), state: 'read', page_count: 1 },
        {
          field: 'annex',
          url: urlOf('/missing.pdf'),
          state: 'failed',
          page_count: 0,
          error: 'not-found',
          detail: 'The server answered 404.',
        },
      ],
      two: [],
    };
    expect(await explained()).toEqual(expected);
    expect(await explained({ highlight: false })).toEqual(expected);
  });

  it('no longer find pages after their file, record or link is deleted', async () => {
    await upload('p.pdf', pdf('Albatross'));
    await put('one', { report: 'media:default/p.pdf' });
    await put('two', { report: 'media:default/p.pdf' });
    await settled();
    expect((await search('albatross')).total_count).toBe(2);
    await upload('p.pdf', pdf('Petrel'));
    await eventually(
      () => search('petrel'),
      ({ total_count: total }) => total === 2,
    );
    expect((await search('albatross', { typo_tolerance: false })).total_count).toBe(0);
    await put('one', { title: 'No link' });
    expect(await found('petrel')).toEqual([['two', 1]]);
    await service.client.delete('/media/default/default/p.pdf');
    await eventually(
      () => search('petrel'),
      ({ total_count: total }) => total === 0,
    );
  });

  it('find each of a thousand records with the same URL', async () => {
    served.set('/same.pdf', { bytes: pdf('Shearwater') });
    const records = Array.from({ length: 1000 }, (_, number) => ({ name: `r${number}`, report: urlOf('/same.pdf') }));
    await service.client.bulk('default', list, records);
    await settled();
    expect((await search('shearwater')).total_count).toBe(1000);
    expect(askedFor('/same.pdf')).toBe(1);
  });

  it('work in the next version and in a copy', async () => {
    served.set('/a.pdf', { bytes: pdf('Fulmar') });
    await put('one', { report: urlOf('/a.pdf') });
    await settled();
    const changed = { ...DEFINITION, searchable_fields: [{ name: 'title', weight: 3 }] };
    await service.client.put(`/list/default/${list}`, changed);
    const { status } = await eventually(
      () => service.client.post(`/search/default/${list}/2`, { query: 'fulmar' }),
      (answer) => answer.status === 200,
    );
    expect(status).toBe(200);
    await settled();
    const second = await service.client.post(`/search/default/${list}/2`, { query: 'fulmar' });
    expect(second.body).toMatchObject({ total_count: 1, results: [{ name: 'one', document: { page: 1 } }] });
    list = await cloneOf(list);
    await settled(list);
    expect(await found('fulmar')).toEqual([['one', 1]]);
  });
});

describe('a list with many files to read', () => {
  it('can be refreshed and deleted while files are read', async () => {
    let waiting = 0;
    const script = server.script;
    const open: (() => void)[] = [];
    server.script = (asked, response) => {
      waiting += 1;
      open.push(() => script(asked, response));
    };
    try {
      for (let number = 0; number < 20; number += 1) await put(`r${number}`, { report: urlOf(`/${number}.pdf`) });
      await eventually(
        () => Promise.resolve(waiting),
        (count) => count > 0,
      );
      expect(await refresh()).toBe(20);
      expect((await stateOf()).pending).toBe(20);
      const { status } = await service.client.delete(`/list/default/${list}`);
      expect(status).toBe(204);
    } finally {
      server.script = script;
      for (const answer of open) answer();
    }
    expect((await service.client.get(`/list/default/${list}`)).status).toBe(404);
  });

  it('reports its progress', async () => {
    const script = server.script;
    const open: (() => void)[] = [];
    server.script = (asked, response) => void open.push(() => script(asked, response));
    try {
      await put('slow', { report: urlOf('/slow.pdf') });
      const jobs = await eventually(
        async () => (await service.client.get('/progress/default')).body as { jobs: { kind: string; name: string }[] },
        (body) => body.jobs.some(({ kind, name }) => kind === 'resources' && name === list),
      );
      expect(jobs.jobs.find(({ kind, name }) => kind === 'resources' && name === list)).toMatchObject({
        done: 0,
        total: 1,
      });
    } finally {
      await eventually(
        () => Promise.resolve(open.length),
        (count) => count > 0,
      );
      server.script = script;
      for (const answer of open) answer();
    }
    expect(await settled()).toMatchObject({ failed: 1 });
  });
});

async function cloneOf(source: string): Promise<string> {
  const name = `${source}-clone`;
  const { status } = await service.client.post(`/list/default/${source}/clone`, { name });
  expect(status).toBe(201);
  return name;
}
