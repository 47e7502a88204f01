/** A real IMAP server as a process of its own, with a folder that goes with it. */
import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Patience } from '../patience.js';

const START_MS_MAX = 120_000;
const LOG = 'log';

export class MailServer {
  constructor(
    private readonly options: {
      readonly folder: string;
      readonly password: string;
      readonly tlsPort: number;
      readonly plainPort: number;
      readonly hasStartTls: boolean;
      readonly child: ChildProcess;
    },
  ) {}

  /** Of every user. */
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

  /** Of its certificate, for `mail.example` and `localhost`. */
  get certificate(): string {
    return readFileSync(this.certificatePath, 'utf8');
  }

  get certificatePath(): string {
    return join(this.options.folder, 'cert.pem');
  }

  /** Resolves when it greets whoever connects; throws where it has ended, with its log. */
  async answers(): Promise<this> {
    const patience = new Patience(START_MS_MAX);
    while (!(await this.greets())) {
      if (patience.isOver() || this.options.child.exitCode !== null) {
        const log = join(this.options.folder, LOG);
        throw new Error(`the mail server did not start: ${existsSync(log) ? readFileSync(log, 'utf8') : 'no log'}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return this;
  }

  async close(): Promise<void> {
    const { child, folder } = this.options;
    // One that has ended says so no more.
    if (child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  }

  /** Without TLS the server speaks first; with it, a connection has to do. */
  private async greets(): Promise<boolean> {
    return (await this.isThere(this.plainPort, 'data')) && (await this.isThere(this.tlsPort, 'connect'));
  }

  private isThere(port: number, sign: 'connect' | 'data'): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once(sign, () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
  }
}
