import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { certificateFault, makeCertificate } from '../../../test/support/certificate.js';
import { Secret } from '../../platform/index.js';
import { RunTimeOverError, type SourceListener } from '../source/source-run.js';
import { EmailSource, type EmailMemory, type EmailMemoryStore } from './email-source.js';

/** Accepts connections, but never sends a greeting. */
let server: Server;
const connections: Socket[] = [];
beforeEach(async () => {
  server = createServer((socket) => connections.push(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  for (const socket of connections.splice(0)) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

const SILENT: SourceListener = {
  record: () => undefined,
  unchanged: () => undefined,
  gone: () => undefined,
  skipped: () => undefined,
};

function read(signal: AbortSignal, found?: () => undefined, trusted?: string): Promise<unknown> {
  return mailbox({ found, trusted }).read(SILENT, { isFresh: true, signal });
}

interface MailboxOptions {
  readonly found?: (() => undefined) | undefined;
  readonly trusted?: string | undefined;
  readonly memory?: EmailMemoryStore;
}

const NO_MEMORY: EmailMemoryStore = { read: () => undefined, write: () => Promise.resolve() };

function mailbox({ found, trusted, memory = NO_MEMORY }: MailboxOptions): EmailSource {
  return new EmailSource({
    settings: {
      host: 'mail.example',
      port: (server.address() as AddressInfo).port,
      security: trusted === undefined ? 'starttls' : 'tls',
      user: 'ann',
      auth: 'password',
      folders: ['INBOX'],
      since_days: 0,
    },
    secret: new Secret('none'),
    rules: { allowed_hosts: [], loopback_allowed: true },
    memory,
    nowMs: Date.now,
    messageBytesMax: 1_000_000,
    recordsMax: 1000,
    ...(trusted === undefined ? {} : { trusted }),
    lookup: (_name, _options, callback) => {
      found?.();
      callback(null, [{ address: '127.0.0.1', family: 4 }]);
    },
  });
}

const stopped = new Error('stopped');

/** The size of an endless answer: the source must end the connection before the server has sent this many bytes. */
const ENDLESS_BYTES = 128 * 2 ** 20;

it.each([
  ['a line', Buffer.alloc(2 ** 16, 'x')],
  ['an answer of many parts', Buffer.from('(1 2) '.repeat(10_000))],
  ['an answer of many literals', Buffer.concat([Buffer.from('{65536}\r\n'), Buffer.alloc(2 ** 16, 'x')])],
])('EmailSource ends a connection over which %s comes without end, before it takes much memory', async (_, piece) => {
  let sent = 0;
  server.on('connection', (socket) => {
    const send = () => {
      while (!socket.destroyed && sent < ENDLESS_BYTES) {
        sent += piece.length;
        if (!socket.write(piece)) return;
      }
      socket.destroy();
    };
    socket.write('* OK ');
    socket.on('drain', send);
    send();
  });
  await expect(read(new AbortController().signal)).rejects.toThrow(/^The mailbox cannot be read: /);
  expect(sent).toBeLessThan(ENDLESS_BYTES);
});

it('A run that is stopped before it connects does not connect', async () => {
  const abort = new AbortController();
  await expect(
    read(abort.signal, () => {
      abort.abort(stopped);
    }),
  ).rejects.toBe(stopped);
  expect(connections).toEqual([]);
});

it('A run that is stopped while it waits for the server ends at once, as does its connection', async () => {
  const abort = new AbortController();
  const reading = read(abort.signal);
  reading.catch(() => undefined);
  await expect.poll(() => connections.length).toBe(1);
  const closed = new Promise((resolve) => connections[0]?.resume().once('close', resolve));
  abort.abort(stopped);
  await expect(reading).rejects.toBe(stopped);
  await closed;
});

it('EmailSource reports why a server closed the connection, if the server says so', async () => {
  server.on('connection', (socket) => socket.end('* BYE Too many \u001bconnections\r\n'));
  await expect(read(new AbortController().signal)).rejects.toThrow(
    /^The mailbox cannot be read: The server closed the connection before its answer was whole \(ClosedAfterConnectText\)\. It said: Too many  ?connections$/,
  );
});

/** Makes a TLS server that needs no sign-in and answers commands with the given function. Returns its certificate. */
function speaking(answer: (command: string) => string): string {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-mail-'));
  const { keyPath, certificatePath } = makeCertificate(folder);
  const [key, cert] = [readFileSync(keyPath, 'utf8'), readFileSync(certificatePath, 'utf8')];
  rmSync(folder, { recursive: true });
  server.removeAllListeners('connection');
  server.on('connection', (raw) => {
    connections.push(raw);
    const socket = new TLSSocket(raw, { isServer: true, key, cert });
    socket.on('error', () => undefined);
    socket.write('* PREAUTH [CAPABILITY IMAP4rev1] ready\r\n');
    socket.on('data', (said: Buffer) => {
      const [, tag = '', command = ''] = /^(\S+) (.*)\r\n$/.exec(said.toString()) ?? [];
      const answered = answer(command);
      socket.write(answered.endsWith(NO_END) ? answered.slice(0, -NO_END.length) : `${answered}${tag} OK done\r\n`);
    });
  });
  return cert;
}

/** Ends an answer of the server that is never completed. */
const NO_END = 'never';

const fault = certificateFault();
it.skipIf(fault !== undefined)(
  'A run continues where the last one ran out of time, so that older messages are read as well',
  async () => {
    const message = (uid: string) => {
      const text = `Message-ID: <${uid}@mail.example>\r\nSubject: ${uid}\r\n\r\nText\r\n`;
      return `* ${uid} FETCH (UID ${uid} RFC822.SIZE ${text.length} BODY[]<0> {${text.length}}\r\n${text})\r\n`;
    };
    const asked: string[] = [];
    const trusted = speaking((command) => {
      if (command.startsWith('EXAMINE')) return '* 3 EXISTS\r\n* OK [UIDVALIDITY 7] .\r\n* OK [UIDNEXT 4] .\r\n';
      if (command.startsWith('UID SEARCH')) return '* SEARCH 1 2 3\r\n';
      const [, uids = ''] = /^UID FETCH (\S+) /.exec(command) ?? [];
      if (uids === '') return '';
      asked.push(uids);
      return `${uids === '3,2,1' ? message('3') + NO_END : uids.split(',').map(message).join('')}`;
    });
    let kept: EmailMemory | undefined;
    const memory = { read: () => kept, write: (told: EmailMemory) => Promise.resolve(void (kept = told)) };
    const run = async () => {
      const abort = new AbortController();
      const told: string[] = [];
      const listener: SourceListener = {
        ...SILENT,
        record({ name }) {
          told.push(name);
          if (name.includes('3')) abort.abort(new RunTimeOverError(360));
        },
        unchanged: (name) => told.push(`${name} again`),
        skipped: (what, why) => told.push(`${what}: ${why}`),
      };
      const source = mailbox({ trusted, memory });
      const { isComplete } = await source.read(listener, { isFresh: false, signal: abort.signal });
      await source.keep();
      return [isComplete, ...told];
    };
    expect(await run()).toEqual([
      false,
      expect.stringContaining('3@mail.example'),
      'the rest: The time of a run was over (feeds.run_minutes_max = 360).',
    ]);
    expect(await run()).toEqual([true, ...['3@mail.example again', '2@mail.example', '1@mail.example']]);
    expect(asked).toEqual(['3,2,1', '2,1']);
  },
);

it.skipIf(fault !== undefined)(
  'EmailSource reports what was wrong with an answer because of which it ended the connection',
  async () => {
    const cert = speaking((command) =>
      command.startsWith('EXAMINE') ? `* 1 FETCH (FLAGS (${'a '.repeat(200_000)}b))\r\n` : '',
    );
    await expect(read(new AbortController().signal, undefined, cert)).rejects.toThrow(/more than 100000 tokens/);
  },
);
