/** Tests videos that records link to: they are found by pictures of what is seen in them, with the time in seconds. */
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { drawnPicture, jpegOf } from '../support/pictures.js';
import { mp3Of, mp4Of } from '../support/recordings.js';
import { ScriptedServer } from '../support/scripted-server.js';
import { startFileServer } from '../support/served-files.js';
import { startTestService, type TestService } from '../support/service.js';
import { describeWhere } from '../support/skip.js';
import { FFMPEG, NO_FFMPEG, videoOf, writeProgram } from '../support/videos.js';

interface Hit {
  readonly id: string;
  readonly name: string;
  readonly '@image_score'?: number;
  readonly '@text_score'?: number;
  readonly media?: { readonly field: string; readonly url: string; readonly seconds: number };
  readonly explain?: {
    readonly resources?: readonly { readonly frames?: { readonly state: string; readonly count: number } }[];
  };
}
interface ResourcesState {
  readonly read: number;
  readonly pending: number;
  readonly failed: number;
  readonly frames?: string;
  readonly errors: readonly { readonly url: string; readonly error: string }[];
}

const DEFINITION = {
  image_model: 'built-in',
  searchable_fields: [{ name: 'title' }],
  resources: [
    { name: 'cover', kind: 'image' },
    { name: 'film', kind: 'video' },
  ],
};
const WAITING = { timeout: 300_000 };
const served = new Map<string, Uint8Array>();
let folder = '';
let server: ScriptedServer;
let service: TestService;

const env = (ffmpeg: string) => ({
  GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
  GANNET_RESOURCES_RETRY_SECONDS: '1,1,5,5,30,30',
  GANNET_RESOURCES_FFMPEG: ffmpeg,
  GANNET_KERNEL_CHECK_LEASES: '1',
});

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-films-'));
  server = await startFileServer(served);
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const stateOf = async (list: string) => {
  const { body } = await service.client.get(`/list/default/${list}`);
  return (body as { resources_state: ResourcesState }).resources_state;
};
/** Waits until all is processed, with or without ffmpeg. */
const settled = (list: string, frames: string, files: number) =>
  eventually(
    () => stateOf(list),
    (state) => state.pending === 0 && state.read + state.failed === files && state.frames === frames,
  );
const make = async (name: string, records: readonly object[]) => {
  expect((await service.client.post('/list/default', { name, ...DEFINITION })).status).toBe(201);
  const { status, body } = await service.client.bulk('default', name, records);
  expect([status, (body as { failed: number }).failed]).toEqual([200, 0]);
};
const serve = (path: string, bytes: Uint8Array): string => {
  served.set(path, bytes);
  return server.url(path);
};
const picture = async (seed: number) => (await drawnPicture(seed).resize(180).jpeg().toBuffer()) as Uint8Array;
const foundBy = async (list: string, seed: number, query = ''): Promise<readonly Hit[]> => {
  const bytes = await picture(seed);
  const path = `/search/image/default/${list}/1?minimum_image_score=0.9${query}`;
  const { status, body } = await service.client.send('POST', path, {
    bytes,
    headers: { 'content-type': 'image/jpeg' },
  });
  expect(status).toBe(200);
  return (body as { results: Hit[] }).results;
};

describeWhere(FFMPEG !== undefined, NO_FFMPEG)('a list with videos', () => {
  beforeAll(async () => {
    service = await startTestService({ env: env(FFMPEG ?? '') });
  });
  afterAll(() => service.close());

  it('finds videos by a picture of a scene, with the time in seconds, among pictures and other videos', async () => {
    const first = serve('/first.mp4', await videoOf([1, 2, 3]));
    const second = serve('/second.mkv', await videoOf([4, 5], 20, 'mkv'));
    await make('films', [
      { name: 'first', title: 'gannet', cover: serve('/cover.jpg', await jpegOf(9)), film: first },
      { name: 'second', title: 'puffin', film: second },
      { name: 'picture', title: 'auk', cover: serve('/auk.jpg', await jpegOf(2)) },
      { name: 'silent', title: 'tern', film: serve('/silent.mp3', mp3Of({ title: 'Tern' })) },
    ]);
    // Each video counts as one file for its sound, and as one for its frames.
    const state = await settled('films', 'read', 8);
    // The videos made here have no sound.
    expect(state.errors.map(({ error }) => error)).toEqual(['no-text', 'no-text']);
    const places = async (seed: number) =>
      (await foundBy('films', seed)).map(({ name, media }) => [name, media?.field, media?.url, media?.seconds]);
    expect(await places(1)).toEqual([['first', 'film', first, 0]]);
    expect(await places(3)).toEqual([['first', 'film', first, 20]]);
    expect(await places(5)).toEqual([['second', 'film', second, 20]]);
    // Of the record's vectors, that of its picture is the nearest.
    expect(await places(9)).toEqual([['first', undefined, undefined, undefined]]);
    expect((await places(2)).toSorted()).toEqual([
      ['first', 'film', first, 10],
      ['picture', undefined, undefined, undefined],
    ]);
    const [explained] = await foundBy('films', 5, '&explain=true');
    expect(explained?.['@image_score']).toBeGreaterThan(0.9);
    expect(explained?.explain?.resources?.[0]?.frames).toMatchObject({ state: 'read', count: 2 });
    const { body } = await service.client.post('/search/default/films/1', { query: 'gannet' });
    const [byWords] = (body as { results: Hit[] }).results;
    expect([byWords?.['@text_score'], byWords?.['@image_score'], byWords?.media]).toEqual([1, undefined, undefined]);
    // The frames of a video are deleted with the last record that links to it.
    expect((await service.client.delete(`/search-result/default/films/${byWords?.id}`)).status).toBe(204);
    expect(await places(1)).toEqual([]);
    await eventually(
      () => stateOf('films'),
      ({ read, failed }) => read + failed === 5,
    );
  });

  it('reports damaged videos, and reads the others', async () => {
    const whole = await videoOf([6, 7]);
    await make('damaged', [
      { name: 'whole', film: serve('/whole.mp4', whole) },
      { name: 'cut', film: serve('/cut.mp4', whole.subarray(0, 200)) },
      { name: 'page', film: serve('/page.mp4', Buffer.from('<html>no video</html>')) },
      { name: 'blank', film: serve('/blank.mp4', mp4Of({ title: 'Blank' })) },
    ]);
    const { errors } = await settled('damaged', 'read', 8);
    const faults = errors.map(({ url, error }) => `${new URL(url).pathname} ${error}`).toSorted();
    expect(faults.filter((fault) => fault.startsWith('/page'))).toEqual(['/page.mp4 not-a-recording']);
    expect(faults.some((fault) => fault.startsWith('/cut.mp4 '))).toBe(true);
    expect(faults.some((fault) => fault.startsWith('/blank'))).toBe(false);
    expect((await foundBy('damaged', 7)).map(({ name, media }) => [name, media?.seconds])).toEqual([['whole', 10]]);
  });
});

describeWhere(FFMPEG !== undefined, NO_FFMPEG)('frames of videos', () => {
  const VIDEOS = 5;
  const program = () => join(folder, 'ffmpeg');
  const calls = () => readFileSync(join(folder, 'calls'), 'utf8').length;

  it('are skipped without ffmpeg, read once it is installed, and only the interrupted one again after a kill', async () => {
    service = await startTestService({ env: env(program()) });
    const dataDir = service.dataDir;
    const records = [];
    for (let at = 0; at < VIDEOS; ++at)
      records.push({ name: `n${at}`, title: 'film', film: serve(`/n${at}.mp4`, await videoOf([20 + at, 40 + at])) });
    await make('later', records);
    const without = await eventually(
      () => stateOf('later'),
      (state) => state.pending === 0 && state.read + state.failed === VIDEOS,
    );
    expect([without.frames, without.errors.map(({ error }) => error)]).toEqual([
      'no-ffmpeg',
      Array.from({ length: VIDEOS }, () => 'no-text'),
    ]);
    // Each call is counted, and the second waits until the service is killed.
    const waits = `[ $(wc -c < '${folder}/calls') -lt 2 ] || while [ ! -e '${folder}/go' ]; do sleep 0.05; done`;
    const script = `printf x >> '${folder}/calls'\n${waits}\nexec '${FFMPEG}' "$@"`;
    // As packages are installed: the program appears complete, and the service is not restarted.
    renameSync(writeProgram(join(folder, 'unpacked'), script), program());
    await expect.poll(calls, WAITING).toBe(2);
    // The second call begins while the outcome of the first is stored.
    await eventually(
      () => stateOf('later'),
      (state) => state.pending === VIDEOS - 1,
    );
    await service.stop('SIGKILL');
    writeProgram(join(folder, 'go'), '');
    service = await startTestService({ env: env(program()), dataDir });
    try {
      await settled('later', 'read', 2 * VIDEOS);
      // Only the interrupted video is read again.
      expect(calls()).toBe(VIDEOS + 1);
      for (let at = 0; at < VIDEOS; ++at)
        expect((await foundBy('later', 40 + at)).map(({ name, media }) => [name, media?.seconds])).toEqual([
          [`n${at}`, 10],
        ]);
      // Pictures are no longer searched, and the frames are discarded.
      expect((await service.client.put('/list/default/later', { image_model: null })).status).toBe(200);
      await eventually(
        () => stateOf('later'),
        (state) => state.frames === undefined && state.read + state.failed === VIDEOS,
      );
    } finally {
      await service.close();
    }
  });
});

it('A video is fetched once for its subtitles, its transcription and its frames', async () => {
  const model = await ScriptedServer.start();
  model.script = (_asked, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ text: 'Gannets', segments: [{ start: 2, end: 4, text: 'Gannets dive' }] }));
  };
  // A program that prints the same picture for any input.
  writeFileSync(join(folder, 'seen.png'), await drawnPicture(8).resize(180).png().toBuffer());
  const program = writeProgram(join(folder, 'shows'), `exec cat '${join(folder, 'seen.png')}'`);
  service = await startTestService({ env: env(program) });
  try {
    const added = { name: 'whisper', kind: 'transcription', provider: 'openai', url: model.url(), served_name: 'w' };
    expect((await service.control().post('/model/default', added)).status).toBe(201);
    const list = { name: 'once', ...DEFINITION, transcription_model: 'whisper' };
    expect((await service.client.post('/list/default', list)).status).toBe(201);
    const films = Array.from({ length: 5 }, (_, at) => serve(`/once-${at}.mp4`, mp4Of({ title: `Film ${at}` })));
    const fetches = () => films.map((film) => server.asked.filter(({ path }) => film.endsWith(path)).length);
    const before = fetches();
    await service.client.bulk('default', 'once', films.map((film, at) => ({ name: `n${at}`, film }))); // prettier-ignore
    await settled('once', 'read', 2 * films.length);
    expect(fetches()).toEqual(before.map((count) => count + 1));
    expect(await foundBy('once', 8)).toHaveLength(films.length);
    const { body } = await service.client.post('/search/default/once/1', { query: 'dive' });
    expect((body as { results: Hit[] }).results).toHaveLength(films.length);
    // Another video at the same URL, which a refresh finds: it is fetched once more for all three.
    serve('/once-0.mp4', mp4Of({ title: 'Another' }));
    expect((await service.client.post('/list/resources-refresh/default/once', undefined)).status).toBe(202);
    await eventually(
      async () =>
        ((await service.client.post('/search/default/once/1', { query: 'another' })).body as { results: Hit[] }).results
          .length,
      (count) => count === 1,
    );
    await settled('once', 'read', 2 * films.length);
    expect(fetches()).toEqual(before.map((count) => count + 2));
  } finally {
    await service.close();
    await model.close();
  }
});
