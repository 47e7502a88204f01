/**
 * Watches a job that a call started until it ends: on a terminal in one redrawn line, elsewhere with a plain line now
 * and then. The job belongs to the service, and continues if this command ends.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobFollower } from '../operations/index.js';
import { formatCount, printable, shorten, type Output } from './output.js';
import type { CallInput, ServiceClient } from './service-client.js';

const ASK_MS = 250;
const PLAIN_INTERVAL_MS = 5000;

interface ShownJob {
  readonly kind: string;
  readonly name: string;
  readonly state: string;
  readonly done: number;
  readonly rate_per_second: number;
  readonly message: string | null;
}

export interface WatchedJob {
  readonly follower: JobFollower;
  /** Answer of the call that started the job. */
  readonly begun: unknown;
  readonly account: string;
  /** Input of the operation that reads the job's state. */
  readonly input: CallInput;
  /** Undefined if nothing is shown. */
  readonly output: Output | undefined;
}

/** Resolves with the job's final state. */
export async function watchedToEnd(client: ServiceClient, job: WatchedJob, wait = sleep): Promise<unknown> {
  const { follower, begun, account, input, output } = job;
  const line = new JobLine(output);
  try {
    for (;;) {
      const now = await client.call(follower.operation, { ...(input.params && { params: input.params }) });
      if (follower.isOver(begun, now)) return now;
      const name = follower.nameOf(begun);
      const { jobs = [] } = (await client.call('progress.read', { params: { account }, query: { name } })) as {
        readonly jobs?: readonly ShownJob[];
      };
      const shown = jobs.find((job) => job.kind === follower.kind && job.name === name);
      line.draw(shown);
      await wait(ASK_MS);
    }
  } finally {
    line.end();
  }
}

class JobLine {
  private drawnMs = -Infinity;

  constructor(private readonly output: Output | undefined) {}

  draw(job: ShownJob | undefined): void {
    const { output } = this;
    if (output === undefined || (!output.isTerminal && performance.now() - this.drawnMs < PLAIN_INTERVAL_MS)) return;
    this.drawnMs = performance.now();
    const text = textOf(job);
    output.write(output.isTerminal ? `\r\u001b[K${shorten(text, output.columns - 1)}` : `${text}\n`);
  }

  end(): void {
    if (this.output?.isTerminal === true) this.output.write('\r\u001b[K');
  }
}

function textOf(job: ShownJob | undefined): string {
  if (job === undefined || job.state === 'waiting') return 'Waiting in the queue';
  const { done, rate_per_second: rate, message } = job;
  const parts = [`${formatCount(done)} done`, printable(message ?? ''), `${formatCount(Math.round(rate))}/s`];
  return parts.filter((part) => part !== '').join(', ');
}
