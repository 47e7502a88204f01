import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openEnvironment } from '../platform/index.js';
import { WorkQueue, type ScheduledWork, type Settlement } from '../platform/work/index.js';
import { deliveryId } from './delivery-id.js';
import { DeliveryLog } from './delivery-log.js';
import { DeliveryQueue } from './delivery-queue.js';
import { DELIVERIES, type DeliveryTypes } from './delivery-work.js';
import { QUEUE_FORMAT } from './queue-format.js';
import type { LoggedAttempt } from './types.js';

const SUBSCRIPTIONS = ['a', 'b'] as const;
const NOW_MS = 1_000_000;

/** A delivery that the queue should hold for a subscription. */
interface ModelDelivery {
  readonly id: string;
  readonly subject: string;
  state: { readonly kind: 'due'; readonly dueMs: number; readonly attempts: number } | { readonly kind: 'set-aside' };
}
type Model = Record<(typeof SUBSCRIPTIONS)[number], ModelDelivery[]>;

type Settled = Settlement<DeliveryTypes>;
const OUTCOMES = { done: 'delivered', retried: 'retried', 'set-aside': 'set-aside' } as const;

function noteOf(deliveryId: string, outcome: LoggedAttempt['outcome']): LoggedAttempt {
  const result = { ok: outcome === 'delivered', status: 200, error: null, durationMs: 1, answer: '', atMs: NOW_MS };
  return { ...result, deliveryId, type: 'webhook.ping', attempt: 1, outcome };
}

function settlementOf(scheduled: ScheduledWork, id: string, kind: Settled['next']['kind']): Settled {
  const attempt = scheduled.attempts + 1;
  const note = { ...noteOf(id, OUTCOMES[kind]), attempt };
  if (kind === 'done') return { scheduled, note, next: { kind } };
  if (kind === 'retried') return { scheduled, note, next: { kind, dueMs: scheduled.dueMs + 10, attempts: attempt } };
  const failure = { deliveryId: id, type: 'webhook.ping', attempts: attempt, eventAtMs: 1, setAsideAtMs: 2 } as const;
  return { scheduled, note, next: { kind, failure: { ...failure, status: 500, error: null } } };
}

const subscription = fc.constantFrom(...SUBSCRIPTIONS);
const operation = fc.oneof(
  fc.record({ kind: fc.constant('move' as const), subscription, count: fc.integer({ min: 1, max: 5 }) }),
  fc.record({
    kind: fc.constant('settle' as const),
    subscription,
    position: fc.nat(20),
    outcome: fc.constantFrom('done' as const, 'retried' as const, 'set-aside' as const),
  }),
  fc.record({ kind: fc.constant('replay' as const), subscription, all: fc.boolean() }),
  fc.record({ kind: fc.constant('forget' as const), subscription }),
  fc.record({ kind: fc.constant('reopen' as const) }),
);

/** Returns the model's deliveries as the queue must list them. */
function expectedDue(deliveries: readonly ModelDelivery[]): [string, number][] {
  const due = deliveries.flatMap(({ id, state }, order) => (state.kind === 'due' ? [{ id, order, ...state }] : []));
  return due.sort((x, y) => x.dueMs - y.dueMs || x.order - y.order).map(({ id, attempts }) => [id, attempts]);
}

function compare(queue: DeliveryQueue, model: Model): void {
  for (const each of SUBSCRIPTIONS) {
    const due = queue.work.due(each, { behind: undefined, nowMs: NOW_MS * 2, count: 1000 });
    expect(due.map(({ number, attempts }) => [queue.work.item(each, number)?.id, attempts])).toEqual(
      expectedDue(model[each]),
    );
    const setAside = model[each].filter(({ state }) => state.kind === 'set-aside').map(({ id }) => id);
    expect(queue.work.setAsidePage(each, 0, 1000).map(({ failure }) => failure.deliveryId)).toEqual(setAside);
    expect(queue.work.setAsideCount(each)).toBe(setAside.length);
  }
  expect(queue.work.size).toBe(model.a.length + model.b.length);
}

describe('DeliveryQueue', () => {
  it('holds what a plain list would, whatever happens in whatever order, and when it is reopened', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 25 }), async (operations) => {
        const folder = mkdtempSync(join(tmpdir(), 'gannet-queue-'));
        let queue = new DeliveryQueue(folder);
        const model: Model = { a: [], b: [] };
        let row = 0;
        try {
          for (const step of operations) {
            switch (step.kind) {
              case 'move': {
                const moved = Array.from({ length: step.count }, () => ({
                  id: deliveryId('source', { row: (row += 1), atMs: 1 }, step.subscription),
                  subject: `s${row % 3}`,
                }));
                const event = { account: 'x', type: 'webhook.ping', atMs: 1, body: '{}' } as const;
                await queue.moveIn(
                  'source',
                  row,
                  moved.map(({ id, subject }) => ({
                    lane: step.subscription,
                    item: { id, event: { ...event, subject } },
                  })),
                  NOW_MS,
                );
                model[step.subscription].push(
                  ...moved.map((each): ModelDelivery => ({
                    ...each,
                    state: { kind: 'due', dueMs: NOW_MS, attempts: 0 },
                  })),
                );
                expect(queue.mark('source')).toBe(row);
                break;
              }
              case 'settle': {
                const due = queue.work.due(step.subscription, { behind: undefined, nowMs: NOW_MS * 2, count: 1000 });
                const scheduled = due[step.position % Math.max(due.length, 1)];
                if (scheduled === undefined) break;
                const id = queue.work.item(step.subscription, scheduled.number)?.id ?? '';
                const settled = settlementOf(scheduled, id, step.outcome);
                await queue.settle([settled]);
                const own = model[step.subscription];
                const found = own.find((each) => each.id === id);
                if (found === undefined) throw new Error('the model does not know it');
                expect(scheduled.subject).toBe(found.subject);
                const { next } = settled;
                if (next.kind === 'done') own.splice(own.indexOf(found), 1);
                else if (next.kind === 'set-aside') found.state = { kind: 'set-aside' };
                else found.state = { kind: 'due', dueMs: next.dueMs, attempts: next.attempts };
                // A second settlement finds nothing left, and changes nothing.
                await queue.settle([settled]);
                // The attempt is in the log, even if nothing is left to deliver.
                expect(queue.has(step.subscription)).toBe(true);
                break;
              }
              case 'replay': {
                const setAside = model[step.subscription].filter(({ state }) => state.kind === 'set-aside');
                const chosen = step.all ? setAside : setAside.slice(0, 1);
                const ids = step.all ? undefined : new Set(chosen.map(({ id }) => id));
                expect(
                  await queue.replay(step.subscription, ({ deliveryId: id }) => ids?.has(id) ?? true, NOW_MS),
                ).toBe(chosen.length);
                for (const each of chosen) each.state = { kind: 'due', dueMs: NOW_MS, attempts: 0 };
                break;
              }
              case 'forget':
                await queue.forget(step.subscription);
                expect(queue.has(step.subscription)).toBe(false);
                model[step.subscription] = [];
                break;
              case 'reopen':
                await queue.close();
                queue = new DeliveryQueue(folder);
            }
            compare(queue, model);
          }
          const known = SUBSCRIPTIONS.filter((each) => model[each].length > 0);
          expect(known.filter((id) => !queue.has(id))).toEqual([]);
        } finally {
          await queue.close();
          rmSync(folder, { recursive: true, force: true });
        }
      }),
      { numRuns: 25 },
    );
  });

  it('continues from a position in the schedule, and knows when the next delivery is due', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gannet-queue-'));
    const queue = new DeliveryQueue(folder);
    const event = { account: 'x', type: 'webhook.ping', subject: 's', atMs: 1, body: '{}' } as const;
    for (const [row, dueMs] of [5, 5, 7, 9].entries()) {
      await queue.moveIn('source', row + 1, [{ lane: 'a', item: { id: `d${row}`, event } }], dueMs);
    }
    const [first, ...others] = queue.work.due('a', { behind: undefined, nowMs: 7, count: 10 });
    expect(others.map(({ number }) => number)).toEqual([2, 3]);
    expect(queue.work.due('a', { behind: first, nowMs: 7, count: 10 })).toEqual(others);
    expect(queue.work.due('a', { behind: first, nowMs: 7, count: 1 })).toEqual(others.slice(0, 1));
    expect(queue.work.nextDueMs('a', 7)).toBe(9);
    expect(queue.work.nextDueMs('a', 9)).toBeUndefined();
    expect(queue.work.nextDueMs('b', 0)).toBeUndefined();
    await queue.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('replays nothing that is missing: removed meanwhile, or lost in a damaged queue', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gannet-queue-'));
    const environment = openEnvironment(folder, { kind: QUEUE_FORMAT });
    const work = new WorkQueue(environment, DELIVERIES);
    const due = (lane: string) => work.due(lane, { behind: undefined, nowMs: NOW_MS, count: 10 });
    const event = { account: 'x', type: 'webhook.ping', subject: 's', atMs: 1, body: '{}' } as const;
    await environment.transaction(() => {
      work.put(
        ['a', 'b'].map((lane) => ({ lane, item: { id: 'd', event } })),
        NOW_MS,
      );
      const [first, second] = [...due('a'), ...due('b')] as [ScheduledWork, ScheduledWork];
      work.settle([first, second].map((scheduled) => settlementOf(scheduled, 'd', 'set-aside')));
      environment.database(DELIVERIES.databases.items).removeSync(['b', second.number]);
    });
    const replay = (lane: string) => work.replay(lane, () => true, NOW_MS);
    await Promise.all([work.forget('a'), replay('a')]);
    expect([due('a'), work.setAsideCount('a')]).toEqual([[], 0]);
    expect([await replay('b'), due('b'), work.setAsideCount('b')]).toEqual([0, [], 0]);
    await environment.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('numbers log entries without a gap, even after outcomes that could not be written', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gannet-queue-'));
    const environment = openEnvironment(folder, { kind: QUEUE_FORMAT });
    const log = new DeliveryLog(environment);
    const append = (attempts: readonly number[], isRefused = false) =>
      environment.transaction(() => {
        log.append(attempts.map((attempt) => ['a', { ...noteOf('d', 'delivered'), attempt }]));
        if (isRefused) throw new Error('the disk is full');
      });
    await append([1]);
    await expect(append([2, 3], true)).rejects.toThrow('the disk is full');
    await append([2, 3]);
    await log.trim('a', 0, 3);
    expect(log.page('a', undefined, 10).attempts.map(({ attempt }) => attempt)).toEqual([3, 2, 1]);
    await environment.close();
    rmSync(folder, { recursive: true, force: true });
  });
});

describe('the delivery log', () => {
  it('shows no new attempts on a page before old ones that were all removed meanwhile', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gannet-queue-'));
    const environment = openEnvironment(folder, { kind: QUEUE_FORMAT });
    const log = new DeliveryLog(environment);
    const append = (attempts: readonly number[], atMs: number) =>
      environment.transaction(() => {
        log.append(attempts.map((attempt) => ['a', { ...noteOf('d', 'delivered'), attempt, atMs }]));
      });
    await append([1, 2, 3, 4], NOW_MS);
    const { next } = log.page('a', undefined, 2);
    await log.trim('a', NOW_MS + 1, 100);
    expect(log.has('a')).toBe(false);
    await append([5, 6], NOW_MS + 1000);
    expect(log.page('a', next, 2).attempts).toEqual([]);
    expect(log.page('a', undefined, 2).attempts.map(({ attempt }) => attempt)).toEqual([6, 5]);
    await environment.close();
    rmSync(folder, { recursive: true, force: true });
  });
});

describe('deliveryId', () => {
  it('is a UUIDv8 that depends on all of its parts and on nothing else', () => {
    const id = deliveryId('system', { row: 7, atMs: 1 }, 'subscription');
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(deliveryId('system', { row: 7, atMs: 1 }, 'subscription')).toBe(id);
    const others = [
      deliveryId('list', { row: 7, atMs: 1 }, 'subscription'),
      deliveryId('system', { row: 8, atMs: 1 }, 'subscription'),
      deliveryId('system', { row: 7, atMs: 2 }, 'subscription'),
      deliveryId('system', { row: 7, atMs: 1 }, 'x'),
    ];
    expect(new Set([id, ...others]).size).toBe(5);
  });
});
