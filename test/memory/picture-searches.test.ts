/**
 * Tests a thousand clients that search by pictures of several MB at the same time, and of which some disconnect:
 * resident memory stays within `memory.mib` and a quarter more, other searches are answered, refusals give a reason,
 * and nothing is left behind.
 */
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import sharp from 'sharp';
import { afterAll, beforeAll, expect } from 'vitest';
import { eventually } from '../support/eventually.js';
import { jpegOf } from '../support/pictures.js';
import { childrenOf, descriptorsOf } from '../support/processes.js';
import { SeededRandom } from '../support/random.js';
import { startFileServer } from '../support/served-files.js';
import type { ScriptedServer } from '../support/scripted-server.js';
import { startTestService, type TestService } from '../support/service.js';
import { itWhere } from '../support/skip.js';

const MEMORY_MIB = 400;
const CLIENTS = 1000;
/** One in this many disconnects before its picture has arrived. */
const LEAVING_EACH = 7;
const SEARCH_PAUSE_MS = 10;
/** A client that sends nothing for so long is disconnected, also by a refusal that it has not read yet. */
const QUIET_MS = 30_000;
const WIDTH = 1600;
const HEIGHT = 1900;
const PATH = '/search/image/default/seen/1?size=1';
const ON_LINUX = process.platform === 'linux';

let service: TestService;
let server: ScriptedServer;
let key = '';
/** Noise, which no encoder compresses. */
let picture = Buffer.alloc(0);

beforeAll(async () => {
  if (!ON_LINUX) return;
  const random = new SeededRandom(1);
  const pixels = Buffer.from(Array.from({ length: WIDTH * HEIGHT * 3 }, () => random.below(256)));
  const raw = { width: WIDTH, height: HEIGHT, channels: 3 } as const;
  picture = await sharp(pixels, { raw }).jpeg({ quality: 95 }).toBuffer();
  server = await startFileServer(new Map([['/a.jpg', await jpegOf(1)]]));
  service = await startTestService({
    env: {
      GANNET_MEMORY_MIB: String(MEMORY_MIB),
      GANNET_LOG_LEVEL: 'error',
      GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
    },
  });
  key = (await service.createKey({ name: 'load', access: 'full' })).key;
  const list = { name: 'seen', image_model: 'built-in', searchable_fields: [{ name: 'title' }] };
  await service.client.post('/list/default', { ...list, resources: [{ name: 'cover', kind: 'image' }] });
  await service.client.bulk('default', 'seen', [{ name: 'one', title: 'gannet', cover: server.url('/a.jpg') }]);
  await eventually(
    async () => (await searchByPicture(await jpegOf(1))).status,
    (status) => status === 200,
  );
});
afterAll(async () => {
  if (!ON_LINUX) return;
  await service.close();
  await server.close();
});

interface Answer {
  /** 0: there was no answer. */
  readonly status: number;
  readonly body: string;
  readonly tookMs: number;
  /** Code of the error that ended the connection; '' if there was none. */
  readonly error: string;
}

interface Search {
  /** Sends the picture. With `leaves`, disconnects after half of it. */
  readonly send: (leaves?: boolean) => void;
  readonly answer: Promise<Answer>;
}

/**
 * Resolves when the head is sent. The service closes a connection that sends none for 8 s: if a thousand are made before
 * the first one sends, a busy machine takes longer.
 */
function beginSearch(bytes: Buffer | Uint8Array): Promise<Search> {
  const beganMs = performance.now();
  const socket = connect(Number(new URL(service.address).port), '127.0.0.1').setEncoding('utf8');
  const head = [
    ...[`POST ${PATH} HTTP/1.1`, 'Host: localhost', `X-API-Key: ${key}`, 'Content-Type: image/jpeg'],
    ...[`Content-Length: ${bytes.length}`, 'Connection: close'],
  ];
  const answer = new Promise<Answer>((resolve) => {
    let [received, error] = ['', ''];
    socket.on('data', (text: string) => (received += text));
    socket.on('error', ({ code = '' }: NodeJS.ErrnoException) => (error = code));
    socket.on('close', () => {
      const [lines = '', body = ''] = received.split('\r\n\r\n');
      resolve({ status: Number(lines.split(' ')[1] ?? 0), body, tookMs: performance.now() - beganMs, error });
    });
  });
  const send = (leaves = false) => {
    if (leaves) socket.write(bytes.subarray(0, bytes.length / 2), () => socket.destroy());
    else socket.write(bytes);
  };
  return new Promise((resolve) => {
    socket.write(`${head.join('\r\n')}\r\n\r\n`, () => resolve({ send, answer }));
  });
}

async function searchByPicture(bytes: Buffer | Uint8Array): Promise<Answer> {
  const search = await beginSearch(bytes);
  search.send();
  return search.answer;
}

/** All at the same time. */
async function searchByPictures(): Promise<Answer[]> {
  const searches: Search[] = [];
  while (searches.length < CLIENTS) searches.push(await beginSearch(picture));
  searches.forEach(({ send }, at) => send(at % LEAVING_EACH === 0));
  return Promise.all(searches.map(({ answer }) => answer));
}

itWhere(ON_LINUX, 'only Linux tells of a process what it takes')(
  'A thousand simultaneous searches by picture take no more memory than there is, and leave nothing behind',
  async () => {
    expect(picture.length).toBeGreaterThan(2_000_000);
    const before = descriptorsOf(service.pid);
    let residentMib = 0;
    let isDone = false;
    let searches = 0;
    const searching = (async () => {
      while (!isDone) {
        const { status } = await service.client.get('/search/default/seen/1', { query: `gannet ${searches}` });
        expect(status).toBe(200);
        residentMib = Math.max(residentMib, service.residentMib());
        searches += 1;
        await wait(SEARCH_PAUSE_MS);
      }
    })();
    const answers = await Promise.race([searchByPictures(), searching.then(() => [])]);
    isDone = true;
    await searching;
    const counts = new Map<number, number>();
    for (const { status } of answers) counts.set(status, (counts.get(status) ?? 0) + 1);
    const slowestMs = Math.max(...answers.map(({ tookMs }) => tookMs));
    process.stderr.write(
      `1,000 pictures of ${(picture.length / 1e6).toFixed(1)} MB (${[...counts].map(([status, count]) => `${count} × ${status}`).join(', ')}): ${residentMib.toFixed(0)} MiB resident, ${searches} searches beside them, ${(slowestMs / 1000).toFixed(0)} s\n`,
    );
    expect(residentMib).toBeLessThanOrEqual(MEMORY_MIB * 1.25);
    expect(searches).toBeGreaterThan(0);
    expect(counts.get(200) ?? 0).toBeGreaterThan(0);
    for (const { status, body } of answers) {
      expect([0, 200, 429, 503]).toContain(status);
      if (status !== 429 && status !== 503) continue;
      const { detail } = JSON.parse(body) as { detail: string };
      expect(detail).toMatch(/^[A-Z].*\.$/u);
    }
    // Clients that stayed have an answer, even if they were refused before everything was sent, unless a busy machine
    // kept them from sending for so long that they count as gone.
    const unanswered = answers.filter(
      ({ status, tookMs }, at) => status === 0 && at % LEAVING_EACH !== 0 && tookMs < QUIET_MS,
    );
    expect(unanswered.map(({ tookMs, error }) => `${error} after ${Math.round(tookMs)} ms`)).toEqual([]);
    await eventually(
      () => Promise.resolve(descriptorsOf(service.pid)),
      (count) => count <= before + 8,
    );
    expect(childrenOf(service.pid).length).toBeLessThanOrEqual(3);
    expect((await searchByPicture(picture)).status).toBe(200);
  },
);
