/** Runs a real IMAP server as a separate process, with its own temporary folder. */
import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { ImapFlow } from 'imapflow';
import { freePort } from '../free-port.js';
import { Patience } from '../patience.js';

const START_MS_MAX = 120_000;
const STARTS_MAX = 5;
const LOG = 'log';
const TAKEN = /address already in use|bindexception|could not start mail server/i;

export interface MailPorts {
  readonly tlsPort: number;
  readonly plainPort: number;
}

/** Thrown if another process has taken a port that was free when it was chosen. */
class PortTakenError extends Error {
  override readonly name = 'PortTakenError';
}

/** Starts the server, choosing other ports if another process has taken one. */
export async function onFreePorts(
  start: (ports: MailPorts) => Promise<MailServer>,
  draw: () => Promise<number> = freePort,
): Promise<MailServer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start({ tlsPort: await draw(), plainPort: await draw() });
    } catch (error) {
      if (!(error instanceof PortTakenError) || attempt >= STARTS_MAX) throw error;
    }
  }
}

export class MailServer {
  constructor(
    private readonly options: {
      readonly folder: string;
      readonly password: string;
      readonly tlsPort: number;
      readonly plainPort: number;
      readonly hasStartTls: boolean;
      readonly hasCondStore: boolean;
      readonly child: ChildProcess;
    },
  ) {}

  /** Password of every user. */
  get password(): string {
    return this.options.password;
  }

  get tlsPort(): number {
    return this.options.tlsPort;
  }

  get plainPort(): number {
    return this.options.plainPort;
  }

  get hasStartTls(): boolean {
    return this.options.hasStartTls;
  }

  /** True if it supports CONDSTORE (modification sequences). */
  get hasCondStore(): boolean {
    return this.options.hasCondStore;
  }

  /** Its certificate, for `mail.example` and `localhost`. */
  get certificate(): string {
    return readFileSync(this.certificatePath, 'utf8');
  }

  get certificatePath(): string {
    return join(this.options.folder, 'cert.pem');
  }

  /** Runs an action on a mailbox as its user. */
  async asOwner<Result>(user: string, action: (client: ImapFlow) => Promise<Result>): Promise<Result> {
    const client = new ImapFlow({
      host: '127.0.0.1',
      port: this.tlsPort,
      secure: true,
      servername: 'mail.example',
      tls: { ca: this.certificate },
      auth: { user, pass: this.password },
      logger: false,
    });
    await client.connect();
    try {
      return await action(client);
    } finally {
      await client.logout();
    }
  }

  /** Resolves when it accepts connections. If it has ended or lacks its ports, closes it and throws with its log. */
  async answers(): Promise<this> {
    const patience = new Patience(START_MS_MAX);
    while (!(await this.greets()) || TAKEN.test(this.log)) {
      const { log } = this;
      const isTaken = TAKEN.test(log);
      if (isTaken || patience.isOver() || this.options.child.exitCode !== null) {
        await this.close();
        throw new (isTaken ? PortTakenError : Error)(`the mail server did not start: ${log}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return this;
  }

  private get log(): string {
    const path = join(this.options.folder, LOG);
    return existsSync(path) ? readFileSync(path, 'utf8') : 'no log';
  }

  async close(): Promise<void> {
    const { child, folder } = this.options;
    // An ended process emits no further event.
    if (child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  }

  /** Checks its certificate, since another server could have the port. */
  private async greets(): Promise<boolean> {
    const tls = { port: this.tlsPort, host: '127.0.0.1', servername: 'mail.example', ca: this.certificate };
    return (
      (await isThere(connectTls(tls), 'secureConnect')) && (await isThere(connect(this.plainPort, '127.0.0.1'), 'data'))
    );
  }
}

/** Waits at most a second: another process at the port may stay silent. */
function isThere(socket: Socket, sign: 'secureConnect' | 'data'): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isThere: boolean) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once(sign, () => end(true));
    socket.once('error', () => end(false)).setTimeout(1000, () => end(false));
  });
}
