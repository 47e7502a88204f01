/** Clocks that are set while there are webhooks: events are delivered, and failed deliveries are retried in time. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SimulatedTimers } from '../../test/support/simulated-timers.js';
import { EngineFixture } from '../../test/support/webhook-engine.js';
import { WebhookReceiver } from '../../test/support/webhook-receiver.js';
import type { EventContent } from '../platform/index.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const YEAR_MS = 365 * DAY_MS;
const CREATED = 'searchresult.created';

let timers: SimulatedTimers;
/** The error of the machine's clock; timers run correctly. */
let wrongByMs: number;
let receiver: WebhookReceiver;
let fixture: EngineFixture;
beforeEach(async () => {
  timers = new SimulatedTimers();
  wrongByMs = 0;
  receiver = await WebhookReceiver.start();
  fixture = new EngineFixture({
    timers: { nowMs: () => timers.nowMs() + wrongByMs, after: (ms, action) => timers.after(ms, action) },
    settings: { jitter_percent: 0 },
  });
});
afterEach(async () => {
  await fixture.close();
  await receiver.close();
});

const created = (id: string): EventContent => ({ type: CREATED, id, list: 'l', data: {} });
const subscribe = (id: string) => {
  fixture.engine.put(fixture.subscription(id, receiver.url(`/${id}`), [CREATED]));
};
const told = (id: string) => receiver.at(`/${id}`).map(({ body }) => body.id);

it.each([
  ['a day', DAY_MS],
  ['ten years', 10 * YEAR_MS],
])('A webhook receives what is written after the clock was set back by %s', async (_by, byMs) => {
  subscribe('hook');
  wrongByMs = -byMs;
  await fixture.emitAndMove([created('a')]);
  await timers.pass(1000, fixture.settled);
  expect(told('hook')).toEqual(['a']);
});

it('A webhook receives events from before the clock was corrected, even if they are moved into the queue later', async () => {
  subscribe('hook');
  wrongByMs = -DAY_MS;
  await fixture.emitAndMove([created('a')]);
  const wake = fixture.engine.wake.bind(fixture.engine);
  fixture.engine.wake = () => undefined;
  await fixture.emit([created('b')]);
  wrongByMs = 0;
  await timers.pass(1000, fixture.settled);
  fixture.engine.wake = wake;
  await fixture.emitAndMove([created('c')]);
  await timers.pass(1000, fixture.settled);
  expect(told('hook')).toEqual(['a', 'b', 'c']);
});

it('A webhook does not receive an event from before its creation', async () => {
  subscribe('first');
  const wake = fixture.engine.wake.bind(fixture.engine);
  fixture.engine.wake = () => undefined;
  await fixture.emit([created('a')]);
  await timers.pass(1, fixture.settled);
  subscribe('second');
  fixture.engine.wake = wake;
  await fixture.emitAndMove([created('b')]);
  await timers.pass(1000, fixture.settled);
  expect([told('first'), told('second')]).toEqual([['a', 'b'], ['b']]);
});

it('A failed delivery is retried in time after the clock was set ahead, whatever else is waiting', async () => {
  const triedMs: Record<string, number[]> = { a: [], b: [] };
  receiver.answering = ({ body }, response) => {
    triedMs[body.id]?.push(timers.nowMs());
    response.writeHead(500).end();
  };
  subscribe('hook');
  await fixture.emitAndMove([created('a')]);
  await timers.pass(3 * HOUR_MS, fixture.settled);
  // The longest of all waits has begun.
  expect(triedMs['a']).toHaveLength(8);
  wrongByMs = 10 * YEAR_MS;
  await fixture.emitAndMove([created('b')]);
  await timers.pass(5 * 60_000, fixture.settled);
  // The tries are at once, after 1, 4 and 16 seconds, and after a minute.
  expect(triedMs['b']?.length).toBeGreaterThanOrEqual(5);
});
