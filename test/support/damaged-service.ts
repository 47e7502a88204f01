/** Runs a service on a damaged data directory, and asks questions whose right answers are known. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Answer, ServiceClient } from './client.js';
import { Patience, whenOver } from './patience.js';
import { PATIENT } from './service.js';

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));
const START_MS_MAX = 120_000;
const STOP_MS_MAX = 240_000;
const ANSWER_MS_MAX = 240_000;
const REBUILD_WAITS_MAX = 1000;
const REBUILD_WAIT_MS = 100;
const READY_LINE = /(http:\/\/[^\s/]+)/;
/** Members that differ between answers. */
const CHANGING = /"(?:query_id|took_ms)":\s*(?:"[^"]*"|[\d.]+),?/g;

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export class DamagedService {
  output = '';
  address = '';
  readonly #process: ChildProcess;
  readonly #ended: Promise<Ending>;
  ending: Ending | undefined;

  constructor(dataDir: string, env: Readonly<Record<string, string>>) {
    this.#process = spawn(process.execPath, ['bin/gannet.js', 'serve'], {
      cwd: PACKAGE,
      env: {
        ...process.env,
        GANNET_DATA_DIR: dataDir,
        GANNET_HOST: '127.0.0.1',
        GANNET_PORT: '0',
        GANNET_SEARCH_THREADS: '1',
        ...PATIENT,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const hear = (chunk: Buffer) => (this.output += chunk.toString());
    this.#process.stdout?.on('data', hear);
    this.#process.stderr?.on('data', hear);
    this.#ended = once(this.#process, 'close').then(([code, signal]) => {
      return (this.ending = { code: code as number | null, signal: signal as NodeJS.Signals | null });
    });
  }

  /** Resolves with true when it serves, and false if it ended. */
  async started(): Promise<boolean> {
    const patience = new Patience(START_MS_MAX);
    while (this.ending === undefined && !patience.isOver()) {
      const line = this.output.split('\n').find((each) => each.includes('is ready'));
      const address = line === undefined ? undefined : READY_LINE.exec(line)?.[1];
      if (address !== undefined) {
        this.address = address;
        return true;
      }
      await Promise.race([this.#ended, delay(10)]);
    }
    return false;
  }

  async stop(): Promise<Ending> {
    this.#process.kill('SIGTERM');
    const callOff = whenOver(STOP_MS_MAX, () => this.#process.kill('SIGKILL'));
    const ending = await this.#ended;
    callOff();
    return ending;
  }

  kill(): void {
    if (this.ending === undefined) this.#process.kill('SIGKILL');
  }
}

export interface Question {
  /** Id of the list concerned. */
  readonly list: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number>>;
}

/** Returns the answer, repeating the question while an index is being rebuilt. */
export async function ask(client: ServiceClient, { path, query }: Question): Promise<Answer> {
  for (let waits = 0; ; waits += 1) {
    const answer = await withinTime(client.get(path, query), path);
    const code = (answer.body as { code?: string } | undefined)?.code;
    if (code !== 'not-ready' || waits === REBUILD_WAITS_MAX) return answer;
    await delay(REBUILD_WAIT_MS);
  }
}

export function contentOf(answer: Answer): string {
  return `${answer.status} ${answer.text.replaceAll(CHANGING, '')}`;
}

export async function withinTime<Value>(promise: Promise<Value>, what: string): Promise<Value> {
  const late = delay(ANSWER_MS_MAX, undefined, { ref: false }).then(() => {
    throw new Error(`no answer in ${ANSWER_MS_MAX} ms: ${what}`);
  });
  return Promise.race([promise, late]);
}
