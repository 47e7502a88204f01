/** A minimal IMAP server over TLS on loopback, with one folder whose messages a test defines. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import { makeCertificate } from '../certificate.js';

export interface MadeMessage {
  readonly uid: number;
  readonly source: Buffer;
  /** Size that the server claims. If it is larger than the message, the rest is never requested. */
  readonly bytes?: number;
}

const SIGNED_OUT = 'IMAP4rev1 AUTH=XOAUTH2';

export class MadeMailbox {
  readonly messages: MadeMessage[] = [];
  uidValidity = 1;
  /** The accepted token. */
  token = '';
  /** True if a sign-in may be sent in one line (SASL-IR). */
  takesInitialResponse = true;
  /** Commands received, in upper case and without arguments. */
  readonly asked: string[] = [];
  /** Called for each connection (with `''`) and command. Returns true if it answers itself. */
  instead: (command: string, tag: string, socket: Socket) => boolean = () => false;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly folder: string,
    private readonly server: Server,
  ) {}

  static async start(): Promise<MadeMailbox> {
    const folder = mkdtempSync(join(tmpdir(), 'gannet-mailbox-'));
    const { keyPath, certificatePath } = makeCertificate(folder);
    const server = createServer({ key: readFileSync(keyPath), cert: readFileSync(certificatePath) });
    const mailbox = new MadeMailbox(folder, server);
    server.on('secureConnection', (socket) => mailbox.serve(socket));
    await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
    return mailbox;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get certificatePath(): string {
    return join(this.folder, 'cert.pem');
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
    rmSync(this.folder, { recursive: true, force: true });
  }

  private serve(socket: Socket): void {
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket)).on('error', () => undefined);
    if (this.instead('', '*', socket)) return;
    socket.write(`* OK [CAPABILITY ${this.capabilities()}] ready\r\n`);
    let rest = '';
    /** Receives the next line while a command waits for one. */
    let next: ((line: string) => void) | undefined;
    const nextLine = (take: (line: string) => void) => (next = take);
    socket.on('data', (bytes: Buffer) => {
      const lines = (rest + bytes.toString('latin1')).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const take = next;
        next = undefined;
        if (take === undefined) this.answer(line, socket, nextLine);
        else take(line);
      }
    });
  }

  private capabilities(): string {
    return this.takesInitialResponse ? `${SIGNED_OUT} SASL-IR` : SIGNED_OUT;
  }

  private answer(line: string, socket: Socket, nextLine: (take: (line: string) => void) => void): void {
    const [, tag = '*', command = '', rest = ''] = /^(\S+) ((?:UID )?\S+) ?(.*)$/i.exec(line) ?? [];
    this.asked.push(command.toUpperCase());
    if (this.instead(command.toUpperCase(), tag, socket)) return;
    const tell = (...told: readonly string[]) => socket.write(told.map((each) => `${each}\r\n`).join(''));
    const done = (...told: readonly string[]) => tell(...told, `${tag} OK done`);
    switch (command.toUpperCase()) {
      case 'CAPABILITY':
        return void done(`* CAPABILITY ${this.capabilities()}`);
      case 'AUTHENTICATE': {
        const [, payload] = rest.split(' ');
        if (payload !== undefined) return void this.signIn(payload, tag, tell, nextLine);
        tell('+ ');
        return void nextLine((given) => this.signIn(given, tag, tell, nextLine));
      }
      case 'LIST':
      case 'LSUB':
        return void done(`* ${command.toUpperCase()} (\\HasNoChildren) "/" "INBOX"`);
      case 'SELECT':
      case 'EXAMINE':
        return void done(
          `* ${this.messages.length} EXISTS`,
          '* FLAGS (\\Seen)',
          `* OK [UIDVALIDITY ${this.uidValidity}] valid`,
          '* OK [UIDNEXT 1000] next',
        );
      case 'UID SEARCH':
        return void done(`* SEARCH ${this.messages.map(({ uid }) => uid).join(' ')}`);
      case 'UID FETCH': {
        const uids = new Set(rest.split(' ')[0]?.split(',').map(Number));
        const bytesMax = Number(/<0\.(\d+)>/.exec(rest)?.[1] ?? Infinity);
        this.messages.forEach((message, place) => {
          if (uids.has(message.uid)) writeMessage(socket, message, place + 1, bytesMax);
        });
        return void done();
      }
      default:
        done();
    }
  }

  private signIn(
    payload: string,
    tag: string,
    tell: (...told: readonly string[]) => void,
    nextLine: (take: (line: string) => void) => void,
  ): void {
    if (Buffer.from(payload, 'base64').toString() === `user=ada@a.example\x01auth=Bearer ${this.token}\x01\x01`) {
      tell('* CAPABILITY IMAP4rev1', `${tag} OK signed in`);
      return;
    }
    tell(`+ ${Buffer.from('{"status":"401","schemes":"bearer"}').toString('base64')}`);
    nextLine(() => tell(`${tag} NO [AUTHENTICATIONFAILED] refused`));
  }
}

function writeMessage(socket: Socket, { uid, source, bytes }: MadeMessage, number: number, bytesMax: number): void {
  const piece = source.subarray(0, bytesMax);
  const about = `UID ${uid} RFC822.SIZE ${bytes ?? source.length} INTERNALDATE "21-Nov-2026 10:00:00 +0000"`;
  socket.write(`* ${number} FETCH (${about} BODY[]<0> {${piece.length}}\r\n`);
  socket.write(piece);
  socket.write(')\r\n');
}
