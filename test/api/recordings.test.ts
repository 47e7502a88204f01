/**
 * Tests video and audio files that records link to: they are found by what is said in them, with the time in seconds.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { pdfOf } from '../support/pdf.js';
import { mp3Of, mp4Of, subtitlesOf, wavOf } from '../support/recordings.js';
import type { ScriptedServer } from '../support/scripted-server.js';
import { startFileServer } from '../support/served-files.js';
import { startTestService, type TestService } from '../support/service.js';

interface ResourcesState {
  readonly read: number;
  readonly pending: number;
  readonly failed: number;
  readonly errors: readonly { readonly url: string; readonly error: string }[];
}

interface Hit {
  readonly id: string;
  readonly name: string;
  readonly '@text_score'?: number;
  readonly '@document_score'?: number;
  readonly '@video_score'?: number;
  readonly '@audio_score'?: number;
  readonly document?: { readonly page: number };
  readonly media?: {
    readonly field: string;
    readonly url: string;
    readonly seconds: number;
    readonly highlight?: string;
  };
  readonly explain?: { readonly resources?: unknown };
}

const DEFINITION = {
  searchable_fields: [{ name: 'title' }],
  resources: [
    { name: 'film', kind: 'video' },
    { name: 'song', kind: 'audio' },
    { name: 'report', kind: 'document' },
  ],
};
const served = new Map<string, Uint8Array>();
let service: TestService;
let server: ScriptedServer;
let lists = 0;
let list = '';
let version = 1;

beforeAll(async () => {
  server = await startFileServer(served);
  service = await startTestService({
    env: { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true', GANNET_RESOURCES_RETRY_SECONDS: '1' },
  });
});
afterAll(async () => {
  await service.close();
  await server.close();
});
beforeEach(async () => {
  lists += 1;
  version = 1;
  list = `films-${lists}`;
  served.clear();
  server.asked.splice(0);
  expect((await service.client.post('/list/default', { name: list, ...DEFINITION })).status).toBe(201);
});

const put = async (name: string, fields: Record<string, string>) => {
  const { status } = await service.client.post(`/search-result/default/${list}`, { name, fields });
  expect([200, 201]).toContain(status);
};
const settled = (name = list) =>
  eventually(
    async () =>
      ((await service.client.get(`/list/default/${name}`)).body as { resources_state: ResourcesState }).resources_state,
    ({ pending }) => pending === 0,
  );
const search = async (query: string, options = {}) => {
  const { status, body } = await service.client.post(`/search/default/${list}/${version}`, { query, ...options });
  expect(status).toBe(200);
  return body as { readonly total_count: number; readonly results: readonly Hit[] };
};
const found = async (query: string, options = {}) =>
  (await search(query, options)).results.map(({ name, media }) => [name, media?.seconds]);
const upload = async (path: string, bytes: Uint8Array) => {
  const { status } = await service.client.send('PUT', `/media/default/default/${path}`, { bytes });
  expect([200, 201, 204]).toContain(status);
};
const SAID = [
  { seconds: 3, text: 'The gannet dives at full speed' },
  { seconds: 12.5, text: 'and nests on steep cliffs' },
  { seconds: 200, text: 'Puffins live in burrows' },
];

describe('searches in recordings', () => {
  it('find a record by the subtitles of its video, with the time in seconds', async () => {
    served.set('/birds.mp4', mp4Of({ title: 'Sea birds', subtitles: [SAID] }));
    await put('birds', { title: 'A film', film: server.url('/birds.mp4') });
    await put('none', { title: 'No film' });
    expect(await settled()).toEqual({ read: 1, pending: 0, failed: 0, errors: [] });
    const { results, total_count: total } = await search('steep cliffs', { match: 'all' });
    expect(total).toBe(1);
    expect(results[0]).toMatchObject({
      name: 'birds',
      media: { field: 'film', url: server.url('/birds.mp4'), seconds: 12.5 },
    });
    expect(results[0]?.media?.highlight).toContain('<em>cliffs</em>');
    expect(results[0]?.['@video_score']).toBeGreaterThan(0);
    expect(results[0]).not.toHaveProperty('@audio_score');
    expect(results[0]).not.toHaveProperty('@text_score');
    expect(await found('gannet')).toEqual([['birds', 3]]);
    expect(await found('burows')).toEqual([['birds', 200]]);
    expect(await found('sea birds', { match: 'phrase' })).toEqual([['birds', 0]]);
    expect(await found('speed and nests', { match: 'phrase' })).toHaveLength(1);
  });

  it('distinguish kinds of files, each with its own score and minimum score', async () => {
    served.set('/a.mp4', mp4Of({ subtitles: [[{ seconds: 7, text: 'The heron stands still' }]] }));
    served.set('/a.mp3', mp3Of({ title: 'Heron', timedLyrics: [{ seconds: 9, text: 'O heron of the lake' }] }));
    served.set('/a.pdf', pdfOf([{ lines: ['The heron in the reeds'] }]));
    await put('one', {
      film: server.url('/a.mp4'),
      song: server.url('/a.mp3'),
      report: server.url('/a.pdf'),
    });
    expect(await settled()).toMatchObject({ read: 3, failed: 0 });
    const [hit] = (await search('heron')).results;
    expect(hit).toMatchObject({ document: { page: 1 } });
    const scores = [hit?.['@video_score'], hit?.['@audio_score'], hit?.['@document_score']];
    for (const score of scores) expect(score).toBeGreaterThan(0);
    expect(hit?.media?.field).toBe((scores[0] ?? 0) >= (scores[1] ?? 0) ? 'film' : 'song');
    const only = async (query: string) =>
      Object.keys((await search(query)).results[0] ?? {}).filter((key) => /^@/.test(key));
    expect(await only('reeds')).toEqual(['@document_score']);
    expect(await only('still')).toEqual(['@video_score']);
    expect(await only('lake')).toEqual(['@audio_score']);
    const floors = { minimum_video_score: 1, minimum_audio_score: 1, minimum_document_score: 1 };
    const kindsOf = async (options: object) =>
      (await search('lake reeds', options)).results.map((each) =>
        Object.keys(each).filter((key) => key.startsWith('@')),
      );
    expect(await kindsOf({})).toEqual([['@document_score', '@audio_score']]);
    expect(await kindsOf({ ...floors, minimum_audio_score: 0 })).toEqual([['@audio_score']]);
    expect(await kindsOf({ ...floors, minimum_document_score: 0 })).toEqual([['@document_score']]);
    expect(await kindsOf(floors)).toEqual([]);
    const [explained] = (await search('heron', { explain: true })).results;
    expect(explained?.explain?.resources).toMatchObject([
      { field: 'film', state: 'read' },
      { field: 'song', state: 'read' },
      { field: 'report', state: 'read', page_count: 1 },
    ]);
  });

  it('find tags and chapters of audio files', async () => {
    served.set(
      '/talk.mp3',
      mp3Of({ title: 'On seabirds', artist: 'Ada', chapters: [{ seconds: 65, text: 'Moulting' }] }),
    );
    served.set('/call.wav', wavOf({ title: 'Call of a fulmar', seconds: 2 }));
    await put('talk', { song: server.url('/talk.mp3') });
    await put('call', { song: server.url('/call.wav') });
    expect(await settled()).toMatchObject({ read: 2 });
    expect(await found('moulting')).toEqual([['talk', 65]]);
    expect(await found('fulmar')).toEqual([['call', 0]]);
    expect(await found('ada')).toEqual([['talk', 0]]);
  });

  it('explain why a file has no text', async () => {
    served.set('/silent.wav', wavOf({}));
    served.set('/page.mp4', Buffer.from('<!doctype html>'));
    await put('one', { song: server.url('/silent.wav') });
    await put('two', { film: server.url('/page.mp4') });
    await put('three', { film: server.url('/missing.mp4') });
    const { failed, errors } = await settled();
    expect(failed).toBe(3);
    expect(Object.fromEntries(errors.map(({ url, error }) => [url, error]))).toEqual({
      [server.url('/silent.wav')]: 'no-text',
      [server.url('/page.mp4')]: 'not-a-recording',
      [server.url('/missing.mp4')]: 'not-found',
    });
  });
});

describe('subtitles beside a recording', () => {
  it('are fetched from the web, and found as what is said in it', async () => {
    served.set('/film.mp4', mp4Of({ title: 'Cliffs' }));
    served.set('/film.srt', subtitlesOf(SAID));
    await put('film', { film: `${server.url('/film.mp4')}?quality=high` });
    expect(await settled()).toMatchObject({ read: 1 });
    expect(await found('puffins')).toEqual([['film', 200]]);
    served.set('/film.srt', subtitlesOf([{ seconds: 8, text: 'Kittiwakes' }]));
    await service.client.post(`/list/resources-refresh/default/${list}`, undefined);
    await eventually(
      () => found('kittiwakes'),
      (hits) => hits.length === 1,
    );
    expect(await found('puffins', { typo_tolerance: false })).toEqual([]);
  });

  it('in a media store are read as soon as they are uploaded, changed or deleted', async () => {
    await upload('a/talk.wav', wavOf({}));
    await put('talk', { song: 'media:default/a/talk.wav' });
    expect(await settled()).toMatchObject({ failed: 1, errors: [{ error: 'no-text' }] });
    await upload('a/talk.vtt', subtitlesOf(SAID, 'vtt'));
    await eventually(
      () => found('puffins'),
      ([hit]) => hit?.[1] === 200,
    );
    await upload('a/talk.vtt', subtitlesOf([{ seconds: 5, text: 'Razorbills' }], 'vtt'));
    await eventually(
      () => found('razorbills'),
      ([hit]) => hit?.[1] === 5,
    );
    await service.client.delete('/media/default/default/a/talk.vtt');
    await eventually(
      () => found('razorbills'),
      (hits) => hits.length === 0,
    );
  });
});

describe('the text of recordings', () => {
  it('stays in the next version and in a copy without another request, and is deleted with its record', async () => {
    served.set('/birds.mp4', mp4Of({ subtitles: [SAID] }));
    await put('birds', { title: 'A film', film: server.url('/birds.mp4') });
    await settled();
    const changed = { ...DEFINITION, searchable_fields: [{ name: 'title', weight: 2 }] };
    expect((await service.client.put(`/list/default/${list}`, changed)).status).toBe(200);
    await eventually(
      async () =>
        ((await service.client.get(`/list/default/${list}`)).body as { current_version: number }).current_version,
      (current) => current === 2,
    );
    version = 2;
    expect(await found('puffins')).toEqual([['birds', 200]]);
    const asked = server.asked.filter(({ path }) => path === '/birds.mp4').length;
    expect(asked).toBe(1);
    expect((await service.control().post(`/list/default/${list}/reindex`, undefined)).status).toBe(200);
    expect(await found('puffins')).toEqual([['birds', 200]]);
    const clone = { name: `${list}-clone` };
    expect((await service.client.post(`/list/default/${list}/clone`, clone)).status).toBeLessThan(300);
    const own = list;
    [list, version] = [clone.name, 1];
    await settled(list);
    expect(await found('puffins')).toEqual([['birds', 200]]);
    // The other list keeps its text.
    const { results } = await search('');
    expect(results).toHaveLength(1);
    for (const { id } of results) await service.client.delete(`/search-result/default/${list}/${id}`);
    expect(await settled(list)).toEqual({ read: 0, pending: 0, failed: 0, errors: [] });
    expect(await found('puffins')).toEqual([]);
    [list, version] = [own, 2];
    expect(await found('puffins')).toEqual([['birds', 200]]);
  });

  it('is read once for ten thousand records with the same URL', async () => {
    served.set('/same.mp3', mp3Of({ title: 'Shearwater' }));
    const records = Array.from({ length: 10_000 }, (_, number) => ({
      name: `r${number}`,
      song: server.url('/same.mp3'),
    }));
    await service.client.bulk('default', list, records);
    await settled();
    expect((await search('shearwater', { size: 1 })).total_count).toBe(10_000);
    expect(server.asked.filter(({ path }) => path === '/same.mp3')).toHaveLength(1);
  });
});
