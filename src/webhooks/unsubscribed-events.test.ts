/** Tests that events of a type to which a webhook no longer subscribes are not sent, also if they were waiting. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../../test/support/eventually.js';
import { SimulatedTimers } from '../../test/support/simulated-timers.js';
import { EngineFixture } from '../../test/support/webhook-engine.js';
import { WebhookReceiver } from '../../test/support/webhook-receiver.js';
import type { EventContent } from '../platform/index.js';

const HOUR_MS = 3_600_000;
const BOTH = ['searchresult.updated', 'searchresult.deleted'];
const [UPDATED, DELETED] = BOTH as [string, string];

let receiver: WebhookReceiver;
let timers: SimulatedTimers;
let fixture: EngineFixture;
beforeEach(async () => {
  receiver = await WebhookReceiver.start();
  timers = new SimulatedTimers();
  fixture = new EngineFixture({ timers });
});
afterEach(async () => {
  await fixture.close();
  await receiver.close();
});

const event = (type: string, id: string): EventContent => ({ type, id, list: 'l', data: {} });
const subscribe = (events: readonly string[]) => {
  fixture.engine.put(fixture.subscription('s', receiver.url(), events));
};
const answerWith = (status: number) => {
  receiver.answering = (_delivery, response) => response.writeHead(status).end();
};
const types = () => receiver.received.map(({ headers }) => headers['x-service-event']);
const logged = () => fixture.engine.attempts('s', undefined, 100).attempts.map(({ type, outcome }) => [type, outcome]);

it('A delivery that waits to be retried is dropped if its type is no longer subscribed to; others are sent', async () => {
  answerWith(503);
  subscribe(BOTH);
  await fixture.emitAndMove([event(UPDATED, 'r1'), event(DELETED, 'r2')]);
  await timers.pass(60_000, fixture.settled);
  const before = logged().length;
  receiver.received.splice(0);

  answerWith(204);
  subscribe([DELETED]);
  await timers.pass(24 * HOUR_MS, fixture.settled);
  expect(types()).toEqual([DELETED]);
  expect(fixture.engine.queued).toBe(0);
  expect(fixture.engine.setAside('s', 0, 10).total).toBe(0);
  // What was not attempted is not in the log.
  expect(logged()).toHaveLength(before + 1);
  expect(logged()[0]).toEqual([DELETED, 'delivered']);
});

it('A delivery is sent if its type is subscribed to again before it is due', async () => {
  answerWith(503);
  subscribe(BOTH);
  await fixture.emitAndMove([event(UPDATED, 'r1')]);
  await timers.pass(30_000, fixture.settled);
  receiver.received.splice(0);
  answerWith(204);
  subscribe([DELETED]);
  subscribe(BOTH);
  await timers.pass(HOUR_MS, fixture.settled);
  expect(types()).toEqual([UPDATED]);
});

it('A delivery that was set aside is replayed only while its type is subscribed to', async () => {
  answerWith(503);
  subscribe(BOTH);
  await fixture.emitAndMove([event(UPDATED, 'r1'), event(DELETED, 'r2')]);
  await timers.pass(24 * HOUR_MS, fixture.settled);
  expect(fixture.engine.setAside('s', 0, 10).total).toBe(2);
  receiver.received.splice(0);

  answerWith(204);
  subscribe([DELETED]);
  expect(await fixture.engine.replay('s', undefined)).toBe(1);
  await timers.pass(HOUR_MS, fixture.settled);
  expect(types()).toEqual([DELETED]);
  expect(fixture.engine.setAside('s', 0, 10).deliveries.map(({ type }) => type)).toEqual([UPDATED]);
  subscribe([UPDATED]);
  expect(await fixture.engine.replay('s', undefined)).toBe(1);
});

it('A ping is sent to a webhook that does not subscribe to pings, also after it failed at first', async () => {
  answerWith(503);
  subscribe([DELETED]);
  await fixture.engine.ping('s');
  await eventually(
    () => Promise.resolve(types().length),
    (count) => count === 1,
  );
  answerWith(204);
  await timers.pass(HOUR_MS, fixture.settled);
  expect(types()).toEqual(['webhook.ping', 'webhook.ping']);
  expect(logged()[0]).toEqual(['webhook.ping', 'delivered']);
});
