/**
 * Tests pictures that claim or unpack to more than allowed, in a list and in searches by picture, and clients that
 * disconnect while theirs is read: each ends with a named error, and nothing else is affected.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { lockHolder } from '../../src/platform/index.js';
import type { Answer } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { pictureBombs } from '../support/picture-bombs.js';
import { jpegOf } from '../support/pictures.js';
import type { ScriptedServer } from '../support/scripted-server.js';
import { startFileServer } from '../support/served-files.js';
import { startTestService, type TestService } from '../support/service.js';

const BYTES_MAX = 3_000_000;
const SIDE_MAX = 2000;
const FAULTS = ['too-large', 'damaged', 'timed-out', 'not-a-picture'];
/** The most that the service's own memory may grow; pictures are read in processes of their own. */
const GROWN_MIB_MAX = 150;
const ROUNDS = 3;
const LEAVING = 300;
const WAITING = { timeout: 450_000 };
const PATH = '/search/image/default/photos/1';

let service: TestService;
let server: ScriptedServer;
const served = new Map<string, Uint8Array>();
beforeAll(async () => {
  server = await startFileServer(served);
  service = await startTestService({
    env: {
      GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
      // A busy machine may not start a process in time: such a picture is retried soon.
      GANNET_RESOURCES_RETRY_SECONDS: '1,1,5,5,30,30',
      GANNET_PICTURES_BYTES_MAX: String(BYTES_MAX),
      GANNET_PICTURES_PIXELS_MAX: String(SIDE_MAX * SIDE_MAX),
      GANNET_PICTURES_MEMORY_MIB_MAX: '300',
    },
  });
  const definition = {
    name: 'photos',
    image_model: 'built-in',
    searchable_fields: [{ name: 'title' }],
    resources: [{ name: 'photo', kind: 'image' }],
  };
  expect((await service.client.post('/list/default', definition)).status).toBe(201);
});
afterAll(async () => {
  await service.close();
  await server.close();
});

const searchBy = (bytes: Uint8Array, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  service.client.send('POST', PATH, { bytes, headers: { 'content-type': 'image/png', ...headers } });
const problem = ({ status, body }: Answer) => `${status} ${(body as { code: string }).code}`;
/** Returns the fault in brackets at the end of the answer's detail, or 'read' without one. */
const faultOf = ({ body }: Answer) =>
  /\(([a-z-]+)\)\.?$/.exec((body as { detail?: string }).detail ?? '')?.[1] ?? 'read';

it('Pictures that would take all memory fail with the same error in records and searches, and the others are found', async () => {
  const bombs = pictureBombs(SIDE_MAX + 500);
  const before = service.ownMemoryMib();
  const records: { name: string; title: string; photo: string }[] = [];
  const add = (name: string, bytes: Uint8Array) => {
    served.set(`/${name}`, bytes);
    records.push({ name, title: name, photo: server.url(`/${name}`) });
  };
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [place, [kind, bytes]] of Object.entries(bombs).entries()) {
      // Each one is a different file with the same content.
      add(`${kind}-${round}`, Buffer.concat([bytes, Buffer.from(`${round}`)]));
      add(`good-${place}-${round}`, await jpegOf(place + round * 100));
    }
  expect((await service.client.bulk('default', 'photos', records)).body).toMatchObject({ failed: 0 });
  const faults = new Map<string, string>();
  for (const [kind, bytes] of Object.entries(bombs)) {
    const answer = await searchBy(bytes);
    faults.set(kind, faultOf(answer));
    if (answer.status !== 200) expect(problem(answer)).toBe('422 picture-unreadable');
  }
  expect([...faults.values()].filter((fault) => fault !== 'read' && !FAULTS.includes(fault))).toEqual([]);
  for (const kind of ['png-that-claims', 'png-that-unpacks']) expect(faults.get(kind)).toBe('too-large');
  const unread = [...faults.values()].filter((fault) => fault !== 'read').length * ROUNDS;
  const state = async () => {
    const { body } = await service.client.get('/list/default/photos');
    return (body as { resources_state: { errors: readonly { url: string; error: string }[] } }).resources_state;
  };
  await expect.poll(state, WAITING).toMatchObject({ read: records.length - unread, pending: 0, failed: unread });
  for (const { url, error } of (await state()).errors)
    expect([url, error]).toEqual([url, faults.get(/\/([a-z-]+)-\d+$/.exec(url)?.[1] ?? '')]);
  for (const round of [0, ROUNDS - 1]) {
    const { body } = await searchBy(await jpegOf(1 + round * 100));
    expect((body as { results: { name: string }[] }).results[0]?.name).toBe(`good-1-${round}`);
  }
  expect(service.ownMemoryMib() - before).toBeLessThan(GROWN_MIB_MAX);
  // It is still the process that was started.
  expect(lockHolder(join(service.dataDir, 'lock'))?.pid).toBe(service.pid);
  expect(service.output.match(/"msg":"The service is ready"/g)).toHaveLength(1);
});

it('A picture with too many bytes is refused before it is read, however it is sent', async () => {
  const bytes = Buffer.concat([await jpegOf(1), Buffer.alloc(BYTES_MAX)]);
  expect(problem(await searchBy(bytes))).toBe('413 body-too-large');
  const media = await service.client.send('PUT', '/media/default/default/large.jpg', { bytes });
  expect(media.status).toBe(201);
  served.set('/large', bytes);
  for (const body of [{ media: 'default/large.jpg' }, { url: server.url('/large') }]) {
    const answer = await service.client.post(PATH, body);
    expect([problem(answer), faultOf(answer)]).toEqual(['422 picture-unreadable', 'too-large']);
  }
});

it('Clients that disconnect while their picture is read leave no requests open', async () => {
  // Its lines are stored in seven passes: all must be unpacked before the first line is known.
  const slow = await sharp({
    create: { width: SIDE_MAX, height: SIDE_MAX, channels: 4, background: '#203040' },
  })
    .png({ progressive: true, compressionLevel: 1 })
    .toBuffer();
  const good = await jpegOf(1);
  expect((await searchBy(slow)).status).toBe(200);
  const { hostname, port } = new URL(service.address);
  const head = [
    `POST ${PATH} HTTP/1.1`,
    `Host: ${hostname}`,
    `X-API-Key: ${service.client.key ?? ''}`,
    'Content-Type: image/png',
    `Content-Length: ${slow.length}`,
  ];
  for (let round = 0; round < ROUNDS; round += 1) {
    const sockets: Socket[] = [];
    const sent = Array.from({ length: LEAVING }, async () => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      sockets.push(socket);
      await once(socket, 'connect');
      await new Promise<void>((resolve) => {
        socket.write(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), slow]), () => {
          resolve();
        });
      });
    });
    await Promise.all(sent);
    for (const socket of sockets) socket.destroy();
    const ends = sockets.map(async (socket) => {
      if (!socket.closed) await once(socket, 'close');
    });
    await Promise.all(ends);
    // While some of them are still being processed, the answer may be to retry later.
    const answer = await eventually(
      () => searchBy(good),
      ({ status }) => status !== 503 && status !== 429,
    );
    expect(answer.status, answer.text).toBe(200);
  }
  await expect.poll(() => service.metric('gannet_http_requests_in_flight'), WAITING).toBe(1);
});
