/**
 * Tests transcription of recordings by a model of the account: each piece is paid for once, and nothing waits for a
 * model that cannot be reached.
 */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Check } from '../../src/cli/doctor/check.js';
import { gannet } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { pdfOf } from '../support/pdf.js';
import { mp3Of, wavOf } from '../support/recordings.js';
import { ScriptedServer, type Script } from '../support/scripted-server.js';
import { FFMPEG } from '../support/videos.js';
import { startTestService, type TestService } from '../support/service.js';

interface ResourcesState {
  readonly read: number;
  readonly pending: number;
  readonly failed: number;
  readonly errors: readonly { readonly error: string; readonly detail: string }[];
}

interface Hit {
  readonly name: string;
  readonly media?: { readonly seconds: number };
}

const DEFINITION = {
  searchable_fields: [{ name: 'title' }],
  resources: [
    { name: 'talk', kind: 'audio' },
    { name: 'report', kind: 'document' },
  ],
};
let service: TestService;
let model: ScriptedServer;
const models: ScriptedServer[] = [];
let whisper = '';
let lists = 0;
let list = '';

/** Answers with these texts in the order of calls. */
const saying =
  (...texts: readonly string[]): Script =>
  (_asked, response) => {
    const text = texts[Math.min(model.asked.length, texts.length) - 1] ?? '';
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ text, segments: text === '' ? [] : [{ start: 2, end: 4, text }] }));
  };

beforeAll(async () => {
  service = await startTestService({
    env: {
      GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
      GANNET_RECORDINGS_TRANSCRIPTION_BYTES_MAX: '100000',
      GANNET_RECORDINGS_TRANSCRIPTION_RETRY_SECONDS: '1,1,1,1,1,1,1,1,1,1',
    },
  });
});
afterAll(async () => {
  await service.close();
  await Promise.all(models.map((each) => each.close()));
});
beforeEach(async () => {
  lists += 1;
  list = `talks-${lists}`;
  whisper = `whisper-${lists}`;
  // Each test has a server of its own, so that calls for the list before do not count.
  model = await ScriptedServer.start();
  models.push(model);
  model.script = saying('');
  const added = { name: whisper, kind: 'transcription', provider: 'openai', url: model.url(), served_name: 'w' };
  expect((await service.control().post('/model/default', added)).status).toBe(201);
  model.asked.splice(0);
  const made = await service.client.post('/list/default', {
    name: list,
    ...DEFINITION,
    transcription_model: whisper,
  });
  expect(made).toMatchObject({ status: 201, body: { transcription_model: whisper } });
});

const upload = async (path: string, bytes: Uint8Array) => {
  const { status } = await service.client.send('PUT', `/media/default/default/${list}/${path}`, { bytes });
  expect([200, 201, 204]).toContain(status);
  return `media:default/${list}/${path}`;
};
const put = async (name: string, fields: Record<string, string>) => {
  const { status } = await service.client.post(`/search-result/default/${list}`, { name, fields });
  expect([200, 201]).toContain(status);
};
const stateOf = async (): Promise<ResourcesState> =>
  ((await service.client.get(`/list/default/${list}`)).body as { resources_state: ResourcesState }).resources_state;
const settled = () => eventually(stateOf, ({ pending }) => pending === 0);
const found = async (query: string) => {
  const { body } = await service.client.post(`/search/default/${list}/1`, { query, typo_tolerance: false });
  return (body as { results: readonly Hit[] }).results.map(({ name, media }) => [name, media?.seconds]);
};

it('A long recording is transcribed in pieces, and not again if the same file is linked again', async () => {
  model.script = saying('Gannets dive', 'Puffins burrow', 'Herons wait');
  // 16,000 bytes a second, and 100,000 a request: three pieces.
  const talk = await upload('talk.wav', wavOf({ title: 'On seabirds', seconds: 15 }));
  await put('talk', { talk });
  expect(await settled()).toEqual({ read: 1, pending: 0, failed: 0, errors: [] });
  expect(model.asked).toHaveLength(3);
  expect(await found('gannets')).toEqual([['talk', 2]]);
  const [[, second = 0] = []] = await found('puffins');
  expect(second).toBeCloseTo(8.247, 2);
  expect(await found('herons')).toHaveLength(1);
  expect(await found('seabirds')).toEqual([['talk', 0]]);
  const again = await upload('again.wav', wavOf({ title: 'On seabirds', seconds: 15 }));
  await put('again', { talk: again });
  expect(await settled()).toMatchObject({ read: 2 });
  await service.client.post(`/list/resources-refresh/default/${list}`, undefined);
  expect(await settled()).toMatchObject({ read: 2, failed: 0 });
  expect(await found('herons')).toHaveLength(2);
  expect(model.asked).toHaveLength(3);
});

it('Tags and other files are found while the model does not answer', async () => {
  model.script = () => undefined;
  const urls = await Promise.all(
    [1, 2, 3, 4, 5].map((each) => upload(`${each}.mp3`, mp3Of({ title: `Talk ${each}`, frames: each }))),
  );
  for (const [index, talk] of urls.entries()) await put(`talk ${index}`, { talk });
  await eventually(
    () => found('talk'),
    (hits) => hits.length === 5,
  );
  await put('paper', { report: await upload('paper.pdf', pdfOf([{ lines: ['Kittiwakes'] }])) });
  await eventually(
    () => found('kittiwakes'),
    (hits) => hits.length === 1,
  );
  expect((await stateOf()).pending).toBe(5);
});

it('The refusal of the model is reported, and tags are found', async () => {
  model.script = (_asked, response) => {
    response.statusCode = 400;
    response.end('{"error": {"message": "bad audio"}}');
  };
  await put('talk', { talk: await upload('bad.mp3', mp3Of({ title: 'Fulmars', frames: 9 })) });
  const { failed, errors } = await settled();
  expect(failed).toBe(1);
  expect(errors[0]).toMatchObject({ error: 'not-transcribed' });
  expect(errors[0]?.detail).toContain('bad audio');
  expect(await found('fulmars')).toEqual([['talk', 0]]);
});

it('A model that was busy or broke off its answer is called again, and only then', async () => {
  let calls = 0;
  model.script = (asked, response) => {
    calls += 1;
    if (calls === 1) response.writeHead(429, { 'retry-after': '1' }).end('{}');
    else if (calls === 2) response.writeHead(200, { 'content-length': '1000' }).write('{"text": "Sheer');
    else saying('Shearwaters')(asked, response);
    if (calls === 2) response.destroy();
  };
  await put('talk', { talk: await upload('busy.mp3', mp3Of({ title: 'At night', frames: 7 })) });
  expect(await settled()).toEqual({ read: 1, pending: 0, failed: 0, errors: [] });
  expect(await found('shearwaters')).toEqual([['talk', 2]]);
  expect(calls).toBe(3);
});

it('After a kill, transcription continues, and no piece that was answered is paid for twice', async () => {
  // The service is killed during the third piece.
  let [answered, isBack] = [0, false];
  const thirdCame = new Promise<void>((resolve) => {
    model.script = (asked, response) => {
      if (!isBack && answered === 2) return resolve();
      answered += 1;
      saying('Gannets dive', 'Puffins burrow', 'Herons wait', 'Herons wait')(asked, response);
    };
  });
  const talk = await upload('long.wav', wavOf({ title: 'On seabirds', seconds: 15 }));
  await put('talk', { talk });
  await thirdCame;
  await service.stop('SIGKILL');
  isBack = true;
  await service.start();
  expect(await settled()).toEqual({ read: 1, pending: 0, failed: 0, errors: [] });
  expect(answered).toBe(3);
  expect(model.asked).toHaveLength(4);
  for (const word of ['gannets', 'puffins', 'herons']) expect(await found(word)).toHaveLength(1);
  const metrics = await service.metric('gannet_transcribed_pieces_total');
  expect(metrics).toBe(1);
});

it('A transcription model can be added to a list later, and removed', async () => {
  const off = await service.client.put(`/list/default/${list}`, { ...DEFINITION, transcription_model: null });
  expect(off.status).toBe(200);
  model.script = saying('Razorbills');
  await put('talk', { talk: await upload('silent.wav', wavOf({})) });
  expect(await settled()).toMatchObject({ failed: 1, errors: [{ error: 'no-text' }] });
  expect(model.asked).toHaveLength(0);
  await service.client.put(`/list/default/${list}`, { ...DEFINITION, transcription_model: whisper });
  await eventually(
    () => found('razorbills'),
    (hits) => hits.length === 1,
  );
  expect((await service.control().delete(`/model/default/${whisper}`)).status).toBe(409);
  await service.client.put(`/list/default/${list}`, { ...DEFINITION, transcription_model: null });
  await eventually(
    () => found('razorbills'),
    (hits) => hits.length === 0,
  );
});

it('A list accepts only a transcription model that exists', async () => {
  const refused = await service.client.put(`/list/default/${list}`, { ...DEFINITION, transcription_model: 'nobody' });
  expect(refused).toMatchObject({ status: 400, body: { errors: [{ pointer: '/transcription_model' }] } });
});

it('gannet doctor shows whether lists transcribe recordings, and whether frames of videos can be read', async () => {
  const { output } = await gannet(service.dataDir, 'doctor', '--json');
  const { checks } = JSON.parse(output) as { checks: Check[] };
  const named = (wanted: string) => checks.find(({ name }) => name === wanted);
  expect(named('Transcription')).toMatchObject({
    state: 'fine',
    detail: expect.stringContaining('lists with recordings'),
  });
  expect(named('ffmpeg')?.state).toBe(FFMPEG === undefined ? 'notice' : 'fine');
});
