/** Runs the real service as a child process on a separate data directory, with clients of it. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { AnswerChecker, type OpenApiDocument } from './answer-checker.js';
import { ServiceClient } from './client.js';
import { whenOver } from './patience.js';

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));
/** Only reached if something hangs; a busy machine may be slow. */
const START_MS_MAX = 120_000;
const STOP_MS_MAX = 120_000;
const READY_LINE = /(http:\/\/[^\s/]+)/;
/** Longest allowed time-outs, so that a busy machine causes no failures. Tests of time-outs set their own. */
export const PATIENT = {
  GANNET_SEARCH_DEADLINE_MS: '600000',
  GANNET_ANALYTICS_REPORT_MS_MAX: '60000',
  GANNET_MODELS_QUERY_MS: '60000',
  GANNET_MODELS_RERANKER_MS: '60000',
  GANNET_WEBHOOKS_ANSWER_SECONDS: '120',
};

export interface ServiceSettings {
  /** `GANNET_…` variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** `jumping` enables `jumpADay`. */
  readonly clock?: 'jumping';
  /** Default: a new one, removed at the end. */
  readonly dataDir?: string;
  /** Descriptor for its log, instead of `output`. */
  readonly standardError?: number;
  /** Default: the package of these tests. */
  readonly packageRoot?: string;
  /** Folder in which it is started. Default: that of the package. */
  readonly workingFolder?: string;
  /** Shell command that sets limits of the process, such as `ulimit -n 256`. */
  readonly limits?: string;
}

export interface NewKeyOptions {
  readonly name?: string;
  readonly access?: 'search-and-read' | 'read-all' | 'full' | 'custom';
  readonly permissions?: readonly string[];
  readonly scope?: 'account' | 'list' | 'group';
  readonly scope_target?: string;
  readonly expires_at?: string;
}

export interface CreatedKey {
  readonly id: string;
  readonly key: string;
}

const checkers = new Map<string, Promise<AnswerChecker>>();

/**
 * Starts the service and resolves when it serves. Every answer to its clients is checked against its OpenAPI document.
 */
export async function startTestService(settings: ServiceSettings = {}): Promise<TestService> {
  const dataDir = settings.dataDir ?? mkdtempSync(join(tmpdir(), 'gannet-test-'));
  const service = new TestService(dataDir, settings);
  try {
    await service.start();
  } catch (error) {
    // Nobody has it who could stop it.
    await service.stop('SIGKILL');
    throw error;
  }
  return service;
}

export class TestService {
  readonly dataDir: string;
  address = '';
  /** Client with a key that has all permissions. */
  client!: ServiceClient;
  checker!: AnswerChecker;
  readonly #settings: ServiceSettings;
  #process: ChildProcessByStdio<null, Readable, Readable | null> | undefined;
  #output = '';

  constructor(dataDir: string, settings: ServiceSettings) {
    this.dataDir = dataDir;
    this.#settings = settings;
  }

  /** Id of its process; 0 if it is not running. */
  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** Everything that the process has written: log and messages. */
  get output(): string {
    return this.#output;
  }

  /** With `withoutKey`, nothing is written for the test, and `client` is unchanged. */
  async start({ withoutKey = false } = {}): Promise<void> {
    if (!existsSync(join(PACKAGE, 'dist', 'bundle', 'src', 'main.cjs')))
      throw new Error('Run `npm run setup` first: dist is missing');
    const limited = ['-c', `${this.#settings.limits ?? ':'} && exec "$0" "$@"`];
    const packageRoot = this.#settings.packageRoot ?? PACKAGE;
    const service = [...this.#clockArguments(), join(packageRoot, 'bin', 'gannet.js'), 'serve'];
    const child = spawn('/bin/sh', [...limited, process.execPath, ...service], {
      cwd: this.#settings.workingFolder ?? packageRoot,
      env: this.#environment(),
      stdio: ['ignore', 'pipe', this.#settings.standardError ?? 'pipe'],
    }) as ChildProcessByStdio<null, Readable, Readable | null>;
    this.#process = child;
    child.stderr?.on('data', (chunk: Buffer) => (this.#output += chunk.toString()));
    this.address = await this.#addressOf(child);
    this.checker = await this.#checkerOf(packageRoot);
    if (withoutKey) return;
    const { key } = await this.createKey({ name: 'tests', access: 'full' });
    this.client = this.clientWith(key);
  }

  /** Returns a client with this key, or without any. */
  clientWith(key: string | undefined): ServiceClient {
    return new ServiceClient(this.address, key, this.checker);
  }

  /** Returns a client with a new key of this kind. */
  async clientFor(options: NewKeyOptions): Promise<ServiceClient> {
    return this.clientWith((await this.createKey(options)).key);
  }

  /** Creates a key over the control socket, as the command line does. */
  async createKey(options: NewKeyOptions): Promise<CreatedKey> {
    const answer = await this.control().post('/api-key/default', { name: 'test', ...options });
    if (answer.status !== 201) throw new Error(`No key was made: ${answer.text}`);
    return answer.body as CreatedKey;
  }

  /** Returns a client of the control socket, as the command line uses it. */
  control(): ServiceClient {
    return new ServiceClient({ socketPath: join(this.dataDir, 'control.sock') }, undefined, this.checker);
  }

  /** Returns a metric of `/metrics` by its name and labels. */
  async metric(name: string): Promise<number> {
    const { text } = await this.clientWith(undefined).get('/metrics');
    const line = text.split('\n').find((each) => each.startsWith(`${name} `));
    if (line === undefined) throw new Error(`There is no measurement ${name}`);
    return Number(line.slice(name.length + 1));
  }

  /** Returns resident anonymous memory in MiB; 0 if it is not running. Linux only. */
  ownMemoryMib(): number {
    return this.#memoryMib(/^RssAnon:\s+(\d+) kB/m);
  }

  /** Returns resident memory in MiB, including mapped files. */
  residentMib(): number {
    return this.#memoryMib(/^VmRSS:\s+(\d+) kB/m);
  }

  /** Returns the names of its threads. Linux only. */
  threadNames(): string[] {
    const folder = `/proc/${this.#process?.pid}/task`;
    return readdirSync(folder).flatMap((thread) => {
      try {
        return readFileSync(join(folder, thread, 'comm'), 'utf8').trim();
      } catch {
        // The thread has ended meanwhile.
        return [];
      }
    });
  }

  #memoryMib(line: RegExp): number {
    const pid = this.#process?.pid;
    if (pid === undefined) return 0;
    return Number(line.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  }

  /** Stops it and resolves with its exit status. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    const child = this.#process;
    if (child === undefined) return null;
    this.#process = undefined;
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    // Not `exit`, when its last output may not have been read yet.
    const end = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
    child.kill(signal);
    const callOff = whenOver(STOP_MS_MAX, () => child.kill('SIGKILL'));
    const code = await end;
    callOff();
    return code;
  }

  /** Sets its clock a day ahead, which takes effect when it handles the signal, a moment later. */
  jumpADay(): void {
    if (this.#settings.clock !== 'jumping') throw new Error('This service was not started with a jumping clock');
    this.#process?.kill('SIGUSR2');
  }

  #clockArguments(): readonly string[] {
    return this.#settings.clock === 'jumping'
      ? ['--import', join(PACKAGE, 'test', 'support', 'jumping-clock.mjs')]
      : [];
  }

  /** Stops it, and removes a data directory created for it. */
  async close(): Promise<void> {
    await this.stop();
    if (this.#settings.dataDir === undefined) rmSync(this.dataDir, { recursive: true, force: true });
  }

  /** Returns the checker, created once per package, since the document is the same after a restart. */
  #checkerOf(packageRoot: string): Promise<AnswerChecker> {
    const known = checkers.get(packageRoot);
    if (known !== undefined) return known;
    const document = new ServiceClient(this.address, undefined).get('/openapi.json');
    const made = document.then(({ body }) => new AnswerChecker(body as OpenApiDocument));
    checkers.set(packageRoot, made);
    made.catch(() => checkers.delete(packageRoot));
    return made;
  }

  #environment(): NodeJS.ProcessEnv {
    // Allows running any test as on a processor without some instructions.
    const inherited = Object.entries(process.env).filter(
      ([name]) => !name.startsWith('GANNET_') || name === 'GANNET_KERNEL_INSTRUCTIONS',
    );
    return {
      ...Object.fromEntries(inherited),
      GANNET_DATA_DIR: this.dataDir,
      GANNET_HOST: '127.0.0.1',
      GANNET_PORT: '0',
      GANNET_KERNEL_CHECK_LEASES: '1',
      // Each thread adds a fifth to the time of a start. Tests of concurrency ask for more.
      GANNET_SEARCH_THREADS: '1',
      // Allows running any test with a web server other than the default.
      ...(process.env['TEST_WEB_SERVER'] === undefined
        ? {}
        : { GANNET_SERVER_WEB_SERVER: process.env['TEST_WEB_SERVER'] }),
      ...PATIENT,
      ...this.#settings.env,
    };
  }

  #addressOf(child: ChildProcessByStdio<null, Readable, Readable | null>): Promise<string> {
    return new Promise((resolve, reject) => {
      const fail = (why: string) => {
        child.kill('SIGKILL');
        reject(new Error(`The service did not start: ${why}\n${this.#output}`));
      };
      const callOff = whenOver(START_MS_MAX, () => fail(`no answer in ${START_MS_MAX} ms`));
      // `close` comes after all its output.
      child.once('close', (code) => {
        callOff();
        fail(`exit status ${code}`);
      });
      let lines = '';
      child.stdout.on('data', (chunk: Buffer) => {
        this.#output += chunk.toString();
        lines += chunk.toString();
        const address = /ready/i.test(lines) ? READY_LINE.exec(lines)?.[1] : undefined;
        if (address === undefined) return;
        callOff();
        child.removeAllListeners('close');
        resolve(address);
      });
    });
  }
}
