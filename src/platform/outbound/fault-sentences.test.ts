/**
 * Failures of connections are plain sentences: tested with servers that cause each one, through the client for all
 * outgoing requests.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { certificateFault, makeCertificate } from '../../../test/support/certificate.js';
import { freePort } from '../../../test/support/free-port.js';
import { faultSentence } from './fault-sentences.js';
import type { AddressLookup } from './guarded-agent.js';
import { OutboundClient, type OutboundLimits } from './outbound-client.js';

/** Only what hangs takes this long; tests of timeouts have their own limits. */
const PATIENT_MS = 100_000;
const LIMITS = {
  headersMs: PATIENT_MS,
  idleMs: PATIENT_MS,
  totalMs: PATIENT_MS,
  wireBytesMax: 1_000_000,
  bytesMax: 1_000_000,
};
const CLOSED = 'The server closed the connection before its answer was whole';
const NO_TLS = 'The server does not speak TLS there, or none that is safe';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  return (server.address() as AddressInfo).port;
}

/** Starts a server that answers each request like this. */
function saying(says: (socket: Socket) => unknown): Promise<number> {
  return listening(createServer((socket) => void socket.once('data', () => says(socket))));
}

interface Asked {
  readonly url: string;
  readonly limits?: Partial<OutboundLimits>;
  readonly connectMs?: number;
  readonly lookup?: AddressLookup;
}

/** Returns the error message of a request, or the number of bytes if it is answered. */
async function toldOf({ url, limits = {}, connectMs = PATIENT_MS, lookup }: Asked): Promise<string> {
  const client = new OutboundClient({
    rules: { allowed_hosts: ['localhost'], loopback_allowed: true },
    userAgent: 'Test',
    limits: { ...LIMITS, ...limits },
    connectMs,
    keepAliveMs: 1000,
    connectionsPerHostMax: 1,
    connectionsMax: 1,
    waitingMax: 1,
    ...(lookup === undefined ? {} : { lookup }),
  });
  closing.push(() => client.close());
  const answered = client.request({ url }).then((response) => response.bytes());
  return answered.then(
    (bytes) => `answered ${bytes.length} bytes`,
    (error: unknown) => (error as Error).message,
  );
}

const http = (port: number) => `http://127.0.0.1:${port}/`;
const head = (...headers: readonly string[]) => ['HTTP/1.1 200 OK', ...headers, '', ''].join('\r\n');

describe('a server', () => {
  it.each<[string, (socket: Socket) => unknown, string]>([
    ['closes before it answers', (socket) => socket.end(), CLOSED],
    ['resets the connection', (socket) => socket.resetAndDestroy(), CLOSED],
    ['closes within the headers', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-'), CLOSED],
    ['closes within a body of known length', (socket) => socket.end(`${head('content-length: 9')}half`), CLOSED],
    ['closes within a chunked body', (socket) => socket.end(`${head('transfer-encoding: chunked')}5\r\nha`), CLOSED],
    [
      'does not speak HTTP',
      (socket) => socket.write('220 mail.example ESMTP\r\n'),
      'The server does not answer in HTTP',
    ],
    [
      'answers with a status that is none',
      (socket) => socket.end('HTTP/1.1 000 Odd\r\ncontent-length: 0\r\n\r\n'),
      'The server does not answer in HTTP',
    ],
    [
      'has headers without end',
      (socket) => socket.write(head(`x: ${'y'.repeat(100_000)}`)),
      'The headers of the answer are too long',
    ],
    [
      'compresses badly',
      (socket) => socket.end(`${head('content-encoding: gzip', 'content-length: 4')}nope`),
      'The answer cannot be decompressed',
    ],
    [
      'does not end what it compresses',
      (socket) => {
        const body = gzipSync('x'.repeat(1000)).subarray(0, -9);
        socket.write(head('content-encoding: gzip', `content-length: ${body.length}`));
        socket.end(body);
      },
      'The answer cannot be decompressed',
    ],
  ])('that %s is reported as such', async (_, says, sentence) => {
    const told = await toldOf({ url: http(await saying(says)) });
    expect(told).toMatch(new RegExp(`^${sentence} \\([A-Z_]+\\)\\.$`));
  });

  it('that sends endless interim answers before its answer is given up', async () => {
    const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
    const url = http(await saying((socket) => socket.write(hints.repeat(101))));
    expect(await toldOf({ url })).toBe('The server sends more than 100 answers before its answer.');
    const some = http(
      await saying((socket) => socket.end(`${hints.repeat(100)}HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n`)),
    );
    expect(await toldOf({ url: some })).toMatch(/^The server closed the connection/);
  });

  it('that does not exist is reported as such', async () => {
    expect(await toldOf({ url: http(await freePort()) })).toBe('The server refuses connections there (ECONNREFUSED).');
  });

  it('that stops answering is reported as such', async () => {
    const silent = http(await saying(() => undefined));
    expect(await toldOf({ url: silent, limits: { headersMs: 20 } })).toBe(
      'The server was connected to and did not answer in time (UND_ERR_HEADERS_TIMEOUT).',
    );
    const half = http(await saying((socket) => socket.write(`${head('content-length: 9')}half`)));
    expect(await toldOf({ url: half, limits: { idleMs: 20 } })).toBe(
      'The server stopped in the middle of its answer (UND_ERR_BODY_TIMEOUT).',
    );
    const url = 'https://silent.example.com/';
    expect(await toldOf({ url, connectMs: 20, lookup: () => undefined })).toBe(
      'The server could not be connected to in time (UND_ERR_CONNECT_TIMEOUT).',
    );
  });

  it.each([
    ['ENOTFOUND', 'There is no host of this name (ENOTFOUND).'],
    ['EAI_AGAIN', 'The name of the host cannot be looked up for now (EAI_AGAIN).'],
  ])('whose name cannot be looked up (%s) is reported as such', async (code, sentence) => {
    const lookup: AddressLookup = (name, _options, callback) => {
      callback(Object.assign(new Error(`getaddrinfo ${code} ${name}`), { code }), []);
    };
    expect(await toldOf({ url: 'https://lost.example.com/', lookup })).toBe(sentence);
  });

  it('that does not use TLS is reported as such', async () => {
    const port = await saying((socket) => socket.end(head()));
    expect(await toldOf({ url: `https://localhost:${port}/` })).toMatch(new RegExp(`^${NO_TLS} \\([A-Z_0-9]+\\)\\.$`));
  });
});

const fault = certificateFault();
describe.skipIf(fault !== undefined)(`a certificate${fault === undefined ? '' : ` (skipped: ${fault})`}`, () => {
  /** Starts a server; returns its port and its certificate. */
  async function serving(kind = {}, options: TlsOptions = {}): Promise<{ readonly port: number; readonly ca: string }> {
    const folder = mkdtempSync(join(tmpdir(), 'gannet-certificate-'));
    closing.push(() => Promise.resolve(rmSync(folder, { recursive: true })));
    const { keyPath, certificatePath } = makeCertificate(folder, kind);
    const ca = readFileSync(certificatePath, 'utf8');
    const given = { key: readFileSync(keyPath), cert: ca, ...options };
    const server = createTlsServer(given, (socket) => socket.end(head()));
    return { port: await listening(server), ca };
  }

  /** Returns the error of a client that trusts the signer. */
  async function trusted({ port, ca }: { port: number; ca: string }, servername: string): Promise<string> {
    const error = await new Promise<Error>((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, ca, servername }, () => reject(new Error('it was taken')));
      socket.once('error', resolve);
      closing.push(() => Promise.resolve(socket.destroy()));
    });
    return faultSentence(error);
  }

  it('that is not signed by a trusted authority is reported as such', async () => {
    const { port } = await serving();
    expect(await toldOf({ url: `https://localhost:${port}/` })).toBe(
      'The certificate of the server is signed by nobody whom this service trusts (DEPTH_ZERO_SELF_SIGNED_CERT). Whoever runs the service has it trust others by NODE_EXTRA_CA_CERTS.',
    );
  });

  it('that has expired, or is for another host, is reported as such', async () => {
    expect(await trusted(await serving({ isExpired: true }), 'localhost')).toBe(
      'The certificate of the server, or of who signed it, has expired (CERT_HAS_EXPIRED).',
    );
    expect(await trusted(await serving(), 'other.example')).toBe(
      'The certificate of the server is for another host (ERR_TLS_CERT_ALTNAME_INVALID).',
    );
  });

  it('that the server requires of its client is reported as such, and not as missing TLS', async () => {
    const asking = await serving({}, { requestCert: true, maxVersion: 'TLSv1.2' });
    expect(await trusted(asking, 'localhost')).toBe(
      'The server ended the handshake of TLS: it takes none that is safe, or asks for a certificate of whoever calls it (ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE).',
    );
    const required = { code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' };
    expect(faultSentence(required)).toMatch(/^The server asks for a certificate of whoever calls it/);
  });

  it('that the server requires of its client after the handshake (TLS 1.3) is reported as such by the client', async () => {
    const { port } = await serving({}, { requestCert: true, minVersion: 'TLSv1.3' });
    // No client of this process trusts the certificate of the server.
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    closing.push(() => Promise.resolve(void vi.unstubAllEnvs()));
    expect(await toldOf({ url: `https://localhost:${port}/` })).toMatch(
      /^The server asks for a certificate of whoever/,
    );
  });

  it('with a wrong signature or purpose is reported as such', () => {
    expect(faultSentence({ code: 'CERT_SIGNATURE_FAILURE' })).toMatch(/^The signature of the certificate/);
    expect(faultSentence({ code: 'INVALID_PURPOSE' })).toMatch(/^The certificate of the server/);
    const weak = { code: 'UNSPECIFIED', message: 'CA signature digest algorithm too weak' };
    expect(faultSentence(weak)).toBe(
      'The certificate of the server cannot be trusted: CA signature digest algorithm too weak.',
    );
  });

  it('is not blamed if the server ends the handshake', async () => {
    const silent = await saying((socket) => socket.end());
    const alerting = (alert: number) => saying((socket) => socket.end(Buffer.from([21, 3, 3, 0, 2, 2, alert])));
    const https = (port: number) => ({ url: `https://localhost:${port}/` });
    const ended = 'The server ended the handshake of TLS';
    expect(await toldOf(https(silent))).toBe(`${ended} without a word (ECONNRESET).`);
    expect(await toldOf(https(await alerting(80)))).toBe(`${ended} (ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR).`);
    expect(await toldOf(https(await alerting(112)))).toMatch(`${ended}: it does not answer for a host of this name`);
    expect(await toldOf(https(await alerting(120)))).toMatch(`${ended}: it does not speak HTTP/1.1 there`);
  });
});

describe('faultSentence for an unknown error', () => {
  it('is a sentence, whatever was thrown (property)', () => {
    const thrown = fc.oneof(
      fc.anything(),
      fc.record({ code: fc.anything(), message: fc.anything() }, { requiredKeys: [] }),
      fc.string().map((message) => new Error(message)),
    );
    expect(faultSentence(new Error('x.'.repeat(1_000_000))).length).toBeLessThan(600);
    fc.assert(
      fc.property(thrown, (error) => {
        expect(faultSentence(error)).toMatch(/^[A-Z][^]*\.$/);
      }),
    );
  });
});
