/**
 * Tests uploads with a crash, a full disk and a thousand slow clients: a file is either the old or the new one, and
 * the counts match what is there. `GANNET_MEDIA_KILLS` kills (default 3), from `GANNET_MEDIA_SEED`.
 */
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SeededRandom } from '../support/random.js';
import { TestService } from '../support/service.js';
import { itWhere } from '../support/skip.js';
import { canMount, SmallFileSystem } from '../support/small-file-system.js';

const KILLS = Number(process.env['GANNET_MEDIA_KILLS'] ?? 3);
/** Of 60 uploads, before a kill. */
const ANSWERS_MAX = 40;
const SEED = Number(process.env['GANNET_MEDIA_SEED'] ?? 1);
const KILL_MS_MAX = 240_000;
const CLIENTS = 1000;
const HALF_BYTES = 50_000;
const MEMORY_MIB = 256;

let dataDir: string;
let agent: Agent;
let service: TestService;
let disk: SmallFileSystem | undefined;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'gannet-media-kill-'));
  agent = new Agent({ maxSockets: Infinity });
});
afterEach(async () => {
  agent.destroy();
  await service.stop('SIGKILL');
  disk?.unmount();
  disk = undefined;
  rmSync(dataDir, { recursive: true, force: true });
});

interface Listed {
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
}

const problems = async () =>
  ((await service.control().post('/media-store/default/default/check', undefined)).body as { problems: string[] })
    .problems;
const usage = async () =>
  (await service.client.get('/media-store/default/default')).body as { bytes_used: number; file_count: number };
const incoming = () => readdirSync(join(dataDir, 'media', 'default', 'default', 'incoming'));

/** Uploads a file. Resolves with the status; undefined if the service went away. */
function put(path: string, bytes: Uint8Array): Promise<number | undefined> {
  const { hostname, port } = new URL(service.address);
  return new Promise((resolve) => {
    const headers = { 'x-api-key': service.client.key };
    const asked = request({ hostname, port, agent, method: 'PUT', path: `/media/default/default/${path}`, headers });
    asked.on('response', (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode));
      response.on('error', () => resolve(undefined));
    });
    asked.on('error', () => resolve(undefined)).end(bytes);
  });
}

it(
  `After ${KILLS} kills during uploads, files are complete, acknowledged ones are there, and the counts are right`,
  async () => {
    service = new TestService(dataDir, { dataDir, env: { GANNET_LOG_LEVEL: 'error' } });
    const random = new SeededRandom(SEED);
    // Contents that a path may have: the last acknowledged one, and those of unanswered uploads.
    const possible = new Map<string, Set<string>>();
    let answered = 0;
    for (let kill = 0; kill < KILLS; ++kill) {
      await service.start();
      const uploads = Array.from({ length: 60 }, async (_, number) => {
        const path = `p${number % 40}`;
        const content = `${kill}-${number}-`.padEnd(1 + random.below(40_000), 'x');
        const known = possible.get(path) ?? new Set(['']);
        possible.set(path, known.add(content));
        const status = await put(path, Buffer.from(content));
        if (status !== undefined) answered += 1;
        if (status !== undefined && number >= 20 && number < 40) possible.set(path, new Set([content]));
      });
      // In the middle of the uploads, however slow the machine is.
      const wanted = answered + 1 + random.below(ANSWERS_MAX);
      await expect.poll(() => answered >= wanted, { interval: 1 }).toBe(true);
      await service.stop('SIGKILL');
      await Promise.all(uploads);
    }
    await service.start();
    await expect.poll(incoming).toEqual([]);
    expect(await problems()).toEqual([]);
    const { files } = (await service.client.get('/media/default/default', { size: 1000 })).body as Listed;
    expect(await usage()).toMatchObject({
      bytes_used: files.reduce((sum, { bytes }) => sum + bytes, 0),
      file_count: files.length,
    });
    for (const [path, contents] of possible) {
      const { status, text } = await service.client.get(`/media/default/default/${path}`);
      expect(
        contents.has(status === 404 ? '' : text),
        `${path} has ${text.slice(0, 20)} of ${text.length} characters`,
      ).toBe(true);
    }
  },
  KILL_MS_MAX * (KILLS + 1),
);

itWhere(canMount('a full disk under a media store'), 'it needs the right to mount')(
  'An upload to a full disk is refused and leaves only the old file, and uploads work when there is room again',
  async () => {
    disk = SmallFileSystem.mount(join(dataDir, 'media'));
    service = new TestService(dataDir, { dataDir, env: { GANNET_LOG_LEVEL: 'fatal' } });
    await service.start();
    expect(await put('a', Buffer.alloc(100_000, 'a'))).toBe(201);
    disk.shrinkTo(65_536);
    for (const path of ['a', 'b', 'c']) expect(await put(path, Buffer.alloc(1_000_000, 'x'))).toBe(507);
    await expect.poll(incoming).toEqual([]);
    expect(await usage()).toMatchObject({ bytes_used: 100_000, file_count: 1 });
    expect((await service.client.get('/media/default/default/a')).text).toBe('a'.repeat(100_000));
    disk.grow();
    expect(await put('a', Buffer.alloc(1_000_000, 'x'))).toBe(200);
    expect(await problems()).toEqual([]);
  },
);

it(`${CLIENTS} simultaneous slow uploads take limited memory, and all arrive complete`, async () => {
  const env = {
    GANNET_LOG_LEVEL: 'error',
    GANNET_MEMORY_MIB: String(MEMORY_MIB),
    GANNET_MEDIA_DEFAULT_STORE_BYTES_MAX: '1000000000',
  };
  service = new TestService(dataDir, { dataDir, env });
  await service.start();
  const sockets = Array.from({ length: CLIENTS }, (_, number) => slowUpload(number));
  const half = Buffer.alloc(HALF_BYTES, 'x');
  for (const { socket } of sockets) socket.write(half);
  await expect.poll(() => incoming().length).toBe(CLIENTS);
  // All of it was written to disk, and the service answers other requests as usual.
  expect((await service.client.get('/media/default/default')).status).toBe(200);
  expect(await service.metric('gannet_memory_own_bytes')).toBeLessThan(MEMORY_MIB * 2 ** 20);
  for (const { socket } of sockets) socket.write(half);
  for (const { answered } of sockets) expect(await answered).toMatch(/^HTTP\/1\.1 201/);
  expect(await usage()).toMatchObject({ bytes_used: CLIENTS * 2 * HALF_BYTES, file_count: CLIENTS });
  // Node.js's own web server reads each connection into memory of its own, which returns to the system after the last
  // of them.
  await expect.poll(() => service.metric('gannet_memory_own_bytes')).toBeLessThan(MEMORY_MIB * 2 ** 20);
});

function slowUpload(number: number): { readonly socket: Socket; readonly answered: Promise<string> } {
  const socket = connect(Number(new URL(service.address).port), '127.0.0.1');
  const answered = new Promise<string>((resolve) => {
    socket.once('data', (piece) => {
      resolve(piece.toString());
      socket.destroy();
    });
    socket.once('error', (error) => resolve(error.message));
  });
  const head = `PUT /media/default/default/slow/${number} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${service.client.key ?? ''}\r\n`;
  socket.write(`${head}Content-Length: ${2 * HALF_BYTES}\r\n\r\n`);
  return { socket, answered };
}
