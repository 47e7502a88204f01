import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serialize } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { eventually } from '../../test/support/eventually.js';
import { WebhookReceiver } from '../../test/support/webhook-receiver.js';
import { CollectionStore, type Collection } from '../catalog/index.js';
import { loadConfig } from '../platform/config.js';
import type { Host } from '../platform/hosts/index.js';
import {
  openEnvironment,
  ProgressBoard,
  SecretBox,
  systemClock,
  type JobProgress,
  type LmdbEnvironment,
  StorageFaults,
} from '../platform/index.js';
import { createMetrics } from '../platform/metrics.js';
import type { WithSecret } from './subscription-store.js';
import { WebhookHost } from './webhook-host.js';
import { makeAccounts } from '../../test/support/made-accounts.js';

let dataDir: string;
let environment: LmdbEnvironment;
let receiver: WebhookReceiver;
let host: WebhookHost;
let things: Collection<number>;
let progress: ProgressBoard;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'gannet-webhook-host-'));
  environment = openEnvironment(join(dataDir, 'system'), { kind: 'system' });
  await makeAccounts(environment, 'default', ...Array.from({ length: 20 }, (_, index) => `account-${index}`));
  things = CollectionStore.of(environment).collection('things');
  receiver = await WebhookReceiver.start();
  host = hostWith(true);
});
afterEach(async () => {
  await host.close();
  await environment.close();
  await receiver.close();
  rmSync(dataDir, { recursive: true, force: true });
});

function hostWith(deliver: boolean, env: Readonly<Record<string, string>> = {}): WebhookHost {
  const config = loadConfig({
    argv: [],
    env: { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true', GANNET_WEBHOOKS_ANSWER_SECONDS: '120', ...env },
  });
  const log = pino({ level: 'silent' });
  progress = new ProgressBoard();
  const secrets = new SecretBox({ path: join(dataDir, 'secret-keys'), given: [] });
  const options = {
    config,
    dataDir,
    environment,
    secrets,
    clock: systemClock,
    faults: new StorageFaults(log),
    log,
    metrics: createMetrics(),
    progress,
    deliver,
  };
  const made = new WebhookHost(options);
  const source = { id: 'system', kind: 'system', path: join(dataDir, 'system') } as const;
  CollectionStore.of(environment).listen({ sink: made, source, clock: systemClock });
  made.written(source);
  return made;
}

/** Changes the system environment with an event. */
function change(id: string, account = 'default'): Promise<void> {
  return CollectionStore.of(environment).change((each) => {
    each.put(things, id, 1);
    each.emit(account, { type: 'contributor.added', id, list: '', data: { name: id } });
  });
}

const workerOf = (of: WebhookHost) =>
  (of as unknown as { host: Pick<Host<never>, 'isRunning' | 'kill' | 'pending'> }).host;
const settings = (path?: string) => ({ url: receiver.url(path), events: ['contributor.added'] });
const subscribe = () => host.subscriptions.create('default', settings());
const idOf = (made: WithSecret | undefined) => made?.subscription.id ?? '';

describe('WebhookHost', () => {
  it('starts no thread and writes no event before there is a webhook', async () => {
    await change('a');
    expect(workerOf(host).isRunning).toBe(false);
    await subscribe();
    await change('b');
    expect(await receiver.events(1)).toMatchObject([['contributor.added', { id: 'b' }]]);
    expect(workerOf(host).isRunning).toBe(true);
    await eventually(
      () => Promise.resolve(host.movedTo('system')),
      (row) => row === 1,
    );
  });

  it('delivers an event from right after the creation of a webhook, even while the thread starts', async () => {
    await subscribe();
    await host.subscriptions.create('default', settings('/second'));
    await change('a');
    await receiver.events(1);
    await eventually(
      () => Promise.resolve(receiver.at('/second').map(({ body }) => body.id)),
      (ids) => ids.includes('a'),
    );
  });

  it('asks the thread once for what is set aside for all webhooks', async () => {
    await host.close();
    host = hostWith(true, { GANNET_WEBHOOKS_RETRY_SECONDS: '', GANNET_WEBHOOKS_QUEUE_RETRY_MINUTES: '' });
    receiver.answering = ({ path }, response) => response.writeHead(path === '/gone' ? 410 : 204).end();
    for (const path of ['/gone', '/a', '/b'])
      await host.ping((await host.subscriptions.create('default', settings(path))).subscription);
    const [trouble, ...others] = await eventually(
      () => host.troubles(),
      (troubles) => troubles.length > 0,
    );
    expect(others).toEqual([]);
    expect(trouble).toMatchObject({
      account: 'default',
      name: receiver.url('/gone'),
      detail: expect.stringContaining('status 410') as string,
    });
    const told = vi.spyOn(Worker.prototype, 'postMessage');
    try {
      await host.troubles();
      expect(told).toHaveBeenCalledTimes(1);
    } finally {
      told.mockRestore();
    }
  });

  it('does not wait for a hanging thread when a webhook is created or troubles are listed', async () => {
    await subscribe();
    const told = vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(() => undefined);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      for (const ask of [() => host.subscriptions.create('default', settings('/second')), () => host.troubles()]) {
        let isAnswered = false;
        const answer = ask().then(() => (isAnswered = true));
        await vi.waitFor(() => {
          expect(workerOf(host).pending).toBe(1);
        });
        // The limit goes by several timers, one after the other.
        while (!isAnswered) await vi.runOnlyPendingTimersAsync();
        await answer;
      }
    } finally {
      vi.useRealTimers();
      told.mockRestore();
    }
  });

  it('accepts changes of webhooks after it was closed, and tells them to the next thread', async () => {
    await subscribe();
    await host.close();
    const { subscription } = await host.subscriptions.create('default', settings('/second'));
    await host.subscriptions.delete('default', subscription.id);
    expect(host.subscriptions.removed()).toEqual([subscription.id]);
  });

  it('reports its deliveries as jobs while it sends them', async () => {
    const told: JobProgress[] = [];
    progress.listen((job) => told.push(job.read()));
    const { id } = (await subscribe()).subscription;
    await change('a');
    await receiver.events(1);
    const sent = await eventually(
      () => Promise.resolve(told.find(({ done }) => done === 1)),
      (job) => job !== undefined,
    );
    const owner = { account: 'default', name: receiver.url(), permission: 'webhook:read' };
    expect(sent).toMatchObject({ kind: 'deliveries', subject: id, owner, state: 'running', total: null });
    await host.close();
    expect(progress.all()).toEqual([]);
  });

  it('replaces a worker that dies, which continues where it was', async () => {
    const { id } = (await subscribe()).subscription;
    await change('a');
    await receiver.events(1);
    const asked = host.attempts(id, undefined, 10);
    workerOf(host).kill();
    await asked.catch((error: unknown) => {
      expect(error).toMatchObject({ code: 'internal-error' });
    });
    await change('b');
    // The first event may come again under the same id, because its outcome may have died with the worker.
    const ids = await eventually(
      () =>
        Promise.resolve(receiver.received.map(({ headers, body }) => `${body.id} ${String(headers['webhook-id'])}`)),
      (all) => all.some((each) => each.startsWith('b ')),
    );
    expect(new Set(ids).size).toBe(2);
    const logged = await eventually(
      () => host.attempts(id, undefined, 10),
      ({ attempts }) => attempts.length >= 2,
    );
    expect(logged.attempts.every(({ outcome }) => outcome === 'delivered')).toBe(true);
  });

  it('keeps events and pings of a process without deliveries for one that delivers', async () => {
    await host.close();
    host = hostWith(false);
    const { subscription } = await subscribe();
    await change('a');
    await host.ping(subscription);
    await host.close();
    expect(receiver.received).toEqual([]);
    host = hostWith(true);
    const types = (await receiver.events(2)).map(([type]) => type);
    expect(new Set(types)).toEqual(new Set(['webhook.ping', 'contributor.added']));
  });

  it('drains a source when all its events are in the queue, and at once without webhooks', async () => {
    const gone = { id: 'gone', kind: 'list', path: join(dataDir, 'lists', 'gone') } as const;
    await host.drained(gone);
    expect(workerOf(host).isRunning).toBe(false);
    await subscribe();
    await host.drained(gone);
    await change('a');
    await host.drained({ id: 'system', kind: 'system', path: join(dataDir, 'system') });
    await receiver.events(1);
  });

  it('tells a running worker only what has changed', async () => {
    await subscribe();
    await change('a');
    await receiver.events(1);
    const told = vi.spyOn(Worker.prototype, 'postMessage');
    try {
      const of = (index: number) => host.subscriptions.create(`account-${index % 20}`, settings(`/${index}`));
      const made = await Promise.all(Array.from({ length: 1000 }, (_, index) => of(index)));
      await host.subscriptions.update('account-1', idOf(made[1]), { url: receiver.url('/elsewhere') });
      await host.subscriptions.delete('account-2', idOf(made[2]));
      await host.subscriptions.deleteOf('account-3');
      const bytes = told.mock.calls.reduce((sum, [message]) => sum + serialize(message).byteLength, 0);
      expect(bytes).toBeLessThan(1003 * 1000);
    } finally {
      told.mockRestore();
    }
    for (const account of [1, 2, 3, 4]) await change(`b${account}`, `account-${account}`);
    await host.drained({ id: 'system', kind: 'system', path: join(dataDir, 'system') });
    const expected = Array.from({ length: 1000 }, (_, index) => (index === 1 ? '/elsewhere' : `/${index}`)).filter(
      (path, index) => [1, 2, 4].includes(index % 20) && path !== '/2',
    );
    // An event that is answered late is sent again, under the same id.
    const delivered = () =>
      new Map(receiver.received.map(({ headers, path }) => [String(headers['webhook-id']), path] as const));
    const paths = await eventually(
      () => Promise.resolve([...delivered().values()].filter((path) => path !== '/hook')),
      (all) => all.length >= expected.length,
    );
    expect(paths.sort()).toEqual(expected.sort());
  });
});
