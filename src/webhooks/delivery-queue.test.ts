import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deliveryId } from './delivery-id.js';
import { DeliveryQueue, type Scheduled, type Settlement } from './delivery-queue.js';
import { RetrySchedule } from './retry-schedule.js';

const SUBSCRIPTIONS = ['a', 'b'] as const;
const NOW_MS = 1_000_000;

/** What the queue should hold of one subscription, by the id of the delivery. */
interface ModelDelivery {
  readonly id: string;
  readonly subject: string;
  state: { readonly kind: 'due'; readonly dueMs: number; readonly attempts: number } | { readonly kind: 'set-aside' };
}
type Model = Record<(typeof SUBSCRIPTIONS)[number], ModelDelivery[]>;

function settlementOf(scheduled: Scheduled, id: string, kind: Settlement['next']['kind']): Settlement {
  const attempt = scheduled.attempts + 1;
  const result = { ok: kind === 'delivered', status: 200, error: null, durationMs: 1, answer: '', atMs: NOW_MS };
  const log = { ...result, deliveryId: id, type: 'webhook.ping', attempt, outcome: kind } as const;
  if (kind === 'delivered') return { scheduled, log, next: { kind } };
  if (kind === 'retried') return { scheduled, log, next: { kind, dueMs: scheduled.dueMs + 10, attempts: attempt } };
  const row = { deliveryId: id, type: 'webhook.ping', attempts: attempt, eventAtMs: 1, setAsideAtMs: 2 } as const;
  return { scheduled, log, next: { kind, row: { ...row, status: 500, error: null } } };
}

const subscription = fc.constantFrom(...SUBSCRIPTIONS);
const operation = fc.oneof(
  fc.record({ kind: fc.constant('move' as const), subscription, count: fc.integer({ min: 1, max: 5 }) }),
  fc.record({
    kind: fc.constant('settle' as const),
    subscription,
    position: fc.nat(20),
    outcome: fc.constantFrom('delivered' as const, 'retried' as const, 'set-aside' as const),
  }),
  fc.record({ kind: fc.constant('replay' as const), subscription, all: fc.boolean() }),
  fc.record({ kind: fc.constant('forget' as const), subscription }),
  fc.record({ kind: fc.constant('reopen' as const) }),
);

/** The model's deliveries as the queue has to list them. */
function expectedDue(deliveries: readonly ModelDelivery[]): [string, number][] {
  const due = deliveries.flatMap(({ id, state }, order) => (state.kind === 'due' ? [{ id, order, ...state }] : []));
  return due.sort((x, y) => x.dueMs - y.dueMs || x.order - y.order).map(({ id, attempts }) => [id, attempts]);
}

function compare(queue: DeliveryQueue, model: Model): void {
  for (const each of SUBSCRIPTIONS) {
    const due = queue.due(each, undefined, NOW_MS * 2, 1000);
    expect(due.map(({ number, attempts }) => [queue.delivery(each, number)?.id, attempts])).toEqual(
      expectedDue(model[each]),
    );
    const setAside = model[each].filter(({ state }) => state.kind === 'set-aside').map(({ id }) => id);
    expect(queue.setAsidePage(each, 0, 1000).map(({ row }) => row.deliveryId)).toEqual(setAside);
    expect(queue.setAsideCount(each)).toBe(setAside.length);
  }
  expect(queue.size).toBe(model.a.length + model.b.length);
}

describe('DeliveryQueue', () => {
  it('holds what a plain list would, whatever happens in whatever order, also when it is opened again', async () => {
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
                  id: deliveryId('source', (row += 1), step.subscription),
                  subject: `s${row % 3}`,
                }));
                const event = { account: 'x', type: 'webhook.ping', atMs: 1, body: '{}' } as const;
                await queue.moveIn(
                  'source',
                  row,
                  moved.map(({ id, subject }) => ({
                    id,
                    subscriptionId: step.subscription,
                    event: { ...event, subject },
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
                const due = queue.due(step.subscription, undefined, NOW_MS * 2, 1000);
                const scheduled = due[step.position % Math.max(due.length, 1)];
                if (scheduled === undefined) break;
                const id = queue.delivery(step.subscription, scheduled.number)?.id ?? '';
                const settled = settlementOf(scheduled, id, step.outcome);
                await queue.settle([settled]);
                const own = model[step.subscription];
                const found = own.find((each) => each.id === id);
                if (found === undefined) throw new Error('the model does not know it');
                expect(scheduled.subject).toBe(found.subject);
                const { next } = settled;
                if (next.kind === 'delivered') own.splice(own.indexOf(found), 1);
                else if (next.kind === 'set-aside') found.state = { kind: 'set-aside' };
                else found.state = { kind: 'due', dueMs: next.dueMs, attempts: next.attempts };
                // What is settled twice was forgotten or settled before: it changes nothing.
                await queue.settle([settled]);
                break;
              }
              case 'replay': {
                const setAside = model[step.subscription].filter(({ state }) => state.kind === 'set-aside');
                const chosen = step.all ? setAside : setAside.slice(0, 1);
                const ids = step.all ? undefined : new Set(chosen.map(({ id }) => id));
                expect(await queue.replay(step.subscription, ids, NOW_MS)).toBe(chosen.length);
                for (const each of chosen) each.state = { kind: 'due', dueMs: NOW_MS, attempts: 0 };
                break;
              }
              case 'forget':
                await queue.forget(step.subscription);
                model[step.subscription] = [];
                break;
              case 'reopen':
                await queue.close();
                queue = new DeliveryQueue(folder);
            }
            compare(queue, model);
          }
          const known = SUBSCRIPTIONS.filter((each) => model[each].length > 0);
          expect(queue.subscriptions()).toEqual(expect.arrayContaining(known));
        } finally {
          await queue.close();
          rmSync(folder, { recursive: true, force: true });
        }
      }),
      { numRuns: 25 },
    );
  }, 60_000);

  it('reads on from a place in the schedule, and knows when the next is due', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gannet-queue-'));
    const queue = new DeliveryQueue(folder);
    const event = { account: 'x', type: 'webhook.ping', subject: 's', atMs: 1, body: '{}' } as const;
    for (const [row, dueMs] of [5, 5, 7, 9].entries()) {
      await queue.moveIn('source', row + 1, [{ id: `d${row}`, subscriptionId: 'a', event }], dueMs);
    }
    const [first, ...others] = queue.due('a', undefined, 7, 10);
    expect(others.map(({ number }) => number)).toEqual([2, 3]);
    expect(queue.due('a', first, 7, 10)).toEqual(others);
    expect(queue.due('a', first, 7, 1)).toEqual(others.slice(0, 1));
    expect(queue.nextDueMs('a', 7)).toBe(9);
    expect(queue.nextDueMs('a', 9)).toBeUndefined();
    expect(queue.nextDueMs('b', 0)).toBeUndefined();
    await queue.close();
    rmSync(folder, { recursive: true, force: true });
  });
});

describe('deliveryId', () => {
  it('is a UUIDv8 that depends on all of its parts and on nothing else', () => {
    const id = deliveryId('system', 7, 'subscription');
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(deliveryId('system', 7, 'subscription')).toBe(id);
    const others = [
      deliveryId('list', 7, 'subscription'),
      deliveryId('system', 8, 'subscription'),
      deliveryId('system', 7, 'x'),
    ];
    expect(new Set([id, ...others]).size).toBe(4);
  });
});

describe('RetrySchedule', () => {
  const settings = { retry_seconds: [1, 4, 16], queue_retry_minutes: [1, 5, 30, 120, 360], jitter_percent: 10 };

  it('waits as configured, and up to a tenth longer', () => {
    const bases = [1, 4, 16, 60, 300, 1800, 7200, 21_600];
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(7), (random, position) => {
        const next = new RetrySchedule(settings, () => random).after(position + 1);
        const base = (bases[position] ?? 0) * 1000;
        expect(next?.waitMs).toBeGreaterThanOrEqual(base);
        expect(next?.waitMs).toBeLessThanOrEqual(base * 1.1);
        expect(next?.isSoon).toBe(position < 3);
      }),
    );
    expect(new RetrySchedule(settings).after(9)).toBeUndefined();
  });

  it('sets aside at once where nothing is configured', () => {
    const none = { retry_seconds: [], queue_retry_minutes: [], jitter_percent: 0 };
    expect(new RetrySchedule(none).after(1)).toBeUndefined();
  });
});
