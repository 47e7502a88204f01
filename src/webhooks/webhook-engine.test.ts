import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../test/support/eventually.js';
import { freePort } from '../../test/support/free-port.js';
import { SeededRandom } from '../../test/support/random.js';
import { SimulatedTimers } from '../../test/support/simulated-timers.js';
import { EngineFixture } from '../../test/support/webhook-engine.js';
import { WebhookReceiver, type Received } from '../../test/support/webhook-receiver.js';
import type { EventContent } from '../platform/index.js';

const HOUR_MS = 3_600_000;
const UPDATED = 'searchresult.updated';

let receiver: WebhookReceiver;
const fixtures: EngineFixture[] = [];
beforeEach(async () => {
  receiver = await WebhookReceiver.start();
});
afterEach(async () => {
  await Promise.all(fixtures.splice(0).map((fixture) => fixture.close()));
  await receiver.close();
});

function fixtureWith(options: ConstructorParameters<typeof EngineFixture>[0] = {}): EngineFixture {
  const fixture = new EngineFixture(options);
  fixtures.push(fixture);
  return fixture;
}

/** Returns `count` updates that alternate between `records` records; `data.n` counts them. */
function updates(count: number, records: number): EventContent[] {
  return Array.from({ length: count }, (_, n) => ({ type: UPDATED, id: `r${n % records}`, list: 'l', data: { n } }));
}

function deliveryIds(received: readonly Received[]): Set<string> {
  return new Set(received.map(({ headers }) => String(headers['x-service-delivery'])));
}

function succeeded(path = '/hook'): Promise<Received[]> {
  return Promise.resolve(receiver.at(path));
}

describe('a receiver that is down', () => {
  it('for six hours gets everything in the end, and nothing is set aside', async () => {
    const timers = new SimulatedTimers();
    const fixture = fixtureWith({ timers });
    const startMs = timers.nowMs();
    const delivered: Received[] = [];
    const attempts = new Map<string, number>();
    receiver.answering = (delivery, response) => {
      const id = String(delivery.headers['x-service-delivery']);
      attempts.set(id, (attempts.get(id) ?? 0) + 1);
      const isUp = timers.nowMs() - startMs >= 6 * HOUR_MS;
      if (isUp) delivered.push(delivery);
      response.writeHead(isUp ? 204 : 503).end();
    };
    fixture.engine.put(fixture.subscription('s', receiver.url(), [UPDATED]));
    await fixture.emitAndMove(updates(60, 20));
    await timers.pass(3 * HOUR_MS, fixture.settled);
    await fixture.emitAndMove(updates(40, 20));
    await timers.pass(3 * HOUR_MS - 1, fixture.settled);
    expect(delivered).toEqual([]);
    await timers.pass(12 * HOUR_MS, fixture.settled);
    expect(deliveryIds(delivered).size).toBe(100);
    expect(delivered).toHaveLength(100);
    expect(fixture.engine.setAside('s', 0, 10).total).toBe(0);
    expect(Math.max(...attempts.values())).toBeLessThanOrEqual(9);
    expect(fixture.failures).toEqual([]);
  });

  it('for a day gets what was set aside when that is replayed', async () => {
    const timers = new SimulatedTimers();
    const fixture = fixtureWith({ timers });
    receiver.answering = (_delivery, response) => response.writeHead(410).end();
    fixture.engine.put(fixture.subscription('s', receiver.url(), [UPDATED]));
    await fixture.emitAndMove(updates(5, 5));
    await timers.pass(24 * HOUR_MS, fixture.settled);
    const { total, deliveries } = fixture.engine.setAside('s', 0, 10);
    expect(total).toBe(5);
    expect(deliveries.map(({ attempts, status }) => [attempts, status])).toEqual(Array(5).fill([9, 410]));
    const waits = receiver.received.length;
    expect(waits).toBe(45);

    receiver.answering = (_delivery, response) => response.writeHead(204).end();
    const chosen = deliveries.slice(0, 2).map(({ deliveryId }) => deliveryId);
    expect(await fixture.engine.replay('s', chosen)).toBe(2);
    expect(await fixture.engine.replay('s', undefined)).toBe(3);
    await timers.pass(HOUR_MS, fixture.settled);
    expect(deliveryIds(receiver.received.slice(waits))).toEqual(
      new Set(deliveries.map(({ deliveryId }) => deliveryId)),
    );
    expect(fixture.engine.setAside('s', 0, 10).total).toBe(0);
    expect(fixture.engine.queued).toBe(0);
  });

  it('gets retries at the times of the contract', async () => {
    const timers = new SimulatedTimers();
    const fixture = fixtureWith({ timers, settings: { jitter_percent: 0 } });
    const startMs = timers.nowMs();
    const atSeconds: number[] = [];
    receiver.answering = (_delivery, response) => {
      atSeconds.push(Math.round((timers.nowMs() - startMs) / 1000));
      response.writeHead(500).end();
    };
    fixture.engine.put(fixture.subscription('s', receiver.url(), [UPDATED]));
    await fixture.emitAndMove(updates(1, 1));
    await timers.pass(24 * HOUR_MS, fixture.settled);
    const waits = atSeconds.map((second, position) => second - (atSeconds[position - 1] ?? 0));
    expect(waits).toEqual([0, 1, 4, 16, 60, 300, 1800, 7200, 21_600]);
  });

  it('delays no other receiver, and uses no more than its share of connections', async () => {
    const fixture = fixtureWith({ settings: { answer_seconds: 300, connections_per_receiver: 3 } });
    const silent = await WebhookReceiver.start();
    silent.answering = () => undefined;
    try {
      fixture.engine.put(fixture.subscription('silent', silent.url(), [UPDATED]));
      fixture.engine.put(fixture.subscription('well', receiver.url(), [UPDATED]));
      await fixture.emit(updates(200, 200));
      await eventually(succeeded, (all) => all.length === 200);
      expect(silent.received.length).toBeLessThanOrEqual(3);
      await fixture.engine.remove(['silent', 'well']);
      expect(fixture.engine.queued).toBe(0);
    } finally {
      await silent.close();
    }
  });

  it('takes no connections from other accounts, however much is waiting for it', async () => {
    const fixture = fixtureWith({ settings: { answer_seconds: 300, connections_max: 4 } });
    receiver.answering = ({ path }, response) => (path === '/hook' ? response.writeHead(204).end() : undefined);
    fixture.engine.put({ ...fixture.subscription('well', receiver.url(), [UPDATED]), account: 'other' });
    for (let number = 0; number < 6; number += 1)
      fixture.engine.put(fixture.subscription(`s${number}`, receiver.url(`/silent/${number}`), [UPDATED]));
    await fixture.emitAndMove(updates(2, 2));
    await fixture.emit(updates(5, 5), 'other');
    await eventually(succeeded, (all) => all.length === 5);
    expect(receiver.received.length).toBe(5 + 2);
    await fixture.engine.remove(Array.from({ length: 6 }, (_, number) => `s${number}`));
  });
});

describe('the queue of an unknown webhook', () => {
  it('is kept, in case the catalogue is an older copy, until the webhook is removed by name', async () => {
    const fixture = fixtureWith({});
    receiver.answering = (_delivery, response) => response.writeHead(503).end();
    fixture.engine.put(fixture.subscription('young', receiver.url(), [UPDATED]));
    await fixture.emitAndMove(updates(3, 3));
    await fixture.reopen();
    fixture.engine.put(fixture.subscription('known', receiver.url('/known'), [UPDATED]));
    await fixture.engine.remove(['other']);
    expect(fixture.engine.queued).toBe(3);
    await fixture.engine.remove(['young', 'other']);
    expect(fixture.engine.queued).toBe(0);
  });
});

describe('the order of deliveries', () => {
  it('is kept for each record, however long the receiver takes', async () => {
    const random = new SeededRandom(7);
    const finished: number[] = [];
    let [underWay, underWayMax] = [0, 0];
    receiver.answering = ({ body }, response) => {
      underWay += 1;
      underWayMax = Math.max(underWayMax, underWay);
      const answer = () => {
        // However slowly requests arrive, several are in progress together.
        if (underWayMax <= 4) {
          setTimeout(answer, 1);
          return;
        }
        underWay -= 1;
        finished.push(Number(body.data['n']));
        response.writeHead(200).end();
      };
      setTimeout(answer, random.below(8));
    };
    const fixture = fixtureWith();
    fixture.engine.put(fixture.subscription('s', receiver.url(), [UPDATED]));
    for (let part = 0; part < 4; part += 1) await fixture.emit(updates(400, 20).slice(part * 100, part * 100 + 100));
    await eventually(
      () => Promise.resolve(finished),
      (all) => all.length === 400,
    );
    for (let record = 0; record < 20; record += 1) {
      const own = finished.filter((n) => n % 20 === record);
      expect(own).toEqual([...own].sort((a, b) => a - b));
    }
    expect(underWayMax).toBeGreaterThan(4);
    expect(underWayMax).toBeLessThanOrEqual(fixture.settings.connections_per_receiver);
  });

  it('is kept while a delivery is retried after a short time', async () => {
    const timers = new SimulatedTimers();
    const fixture = fixtureWith({ timers });
    const failed = new Set<string>();
    const finished: number[] = [];
    receiver.answering = ({ headers, body }, response) => {
      const id = String(headers['x-service-delivery']);
      const isFirst = Number(body.data['n']) % 3 === 0 && !failed.has(id);
      if (isFirst) failed.add(id);
      else finished.push(Number(body.data['n']));
      response.writeHead(isFirst ? 500 : 200).end();
    };
    fixture.engine.put(fixture.subscription('s', receiver.url(), [UPDATED]));
    await fixture.emitAndMove(updates(80, 4));
    await timers.pass(HOUR_MS, fixture.settled);
    expect(finished).toHaveLength(80);
    for (let record = 0; record < 4; record += 1) {
      const own = finished.filter((n) => n % 4 === record);
      expect(own).toEqual([...own].sort((a, b) => a - b));
    }
  });

  it.each([0, 10_000])('is kept if the service restarts during a short wait, %i ms later', async (downMs) => {
    const timers = new SimulatedTimers();
    const fixture = fixtureWith({ timers });
    const finished: number[] = [];
    let isDown = true;
    receiver.answering = ({ body }, response) => {
      if (!isDown) finished.push(Number(body.data['n']));
      response.writeHead(isDown ? 503 : 204).end();
    };
    const subscription = fixture.subscription('s', receiver.url(), [UPDATED]);
    fixture.engine.put(subscription);
    const [first, second] = updates(2, 1);
    await fixture.emitAndMove([first as EventContent]);
    await timers.pass(500, fixture.settled);
    await fixture.emitAndMove([second as EventContent]);
    await timers.pass(100, fixture.settled);
    expect(receiver.received).toHaveLength(1);
    isDown = false;
    await fixture.reopen();
    await timers.pass(downMs, () => Promise.resolve());
    fixture.engine.put(subscription);
    await timers.pass(HOUR_MS, fixture.settled);
    expect(finished).toEqual([0, 1]);
  });
});

describe('moving events into the queue', () => {
  it('makes one delivery of an event for each subscription, however often it is started, always with the same id', async () => {
    const fixture = fixtureWith();
    const subscriptions = ['a', 'b'].map((id) => fixture.subscription(id, receiver.url(`/${id}`), [UPDATED]));
    for (const subscription of subscriptions) fixture.engine.put(subscription);
    await fixture.emit(updates(1200, 1200));
    for (let again = 0; again < 5; again += 1) fixture.engine.wake(fixture.source);
    await eventually(
      () => Promise.resolve(receiver.received),
      (all) => all.length === 2400,
    );
    await fixture.engine.drain(fixture.source);
    const first = deliveryIds(receiver.received);
    expect(first.size).toBe(2400);
    // Draining deletes the position, like the loss of the queue: events that are moved again keep their ids.
    await fixture.reopen();
    for (const subscription of subscriptions) fixture.engine.put(subscription);
    fixture.engine.wake(fixture.source);
    await eventually(
      () => Promise.resolve(receiver.received),
      (all) => all.length === 4800,
    );
    expect(deliveryIds(receiver.received)).toEqual(first);
  });

  it('leaves out events from before the subscription, and those of other accounts', async () => {
    const timers = new SimulatedTimers();
    const fixture = fixtureWith({ timers });
    await fixture.emit(updates(3, 3));
    await timers.pass(1000, fixture.settled);
    fixture.engine.put(fixture.subscription('s', receiver.url(), [UPDATED]));
    await fixture.emit(updates(2, 2), 'another');
    await fixture.emit(updates(1, 1));
    await eventually(succeeded, (all) => all.length === 1);
    await fixture.engine.drain(fixture.source);
    expect(fixture.engine.queued).toBeLessThanOrEqual(1);
  });
});

describe('a failed delivery', () => {
  it.each([
    ['a redirect', 302],
    ['a refusal', 400],
    ['gone', 410],
    ['too many requests', 429],
    ['an error', 500],
  ])('is one with an answer of %s (%i)', async (_name, status) => {
    const fixture = fixtureWith();
    receiver.answering = (_delivery, response) => {
      response.writeHead(status, { Location: receiver.url('/elsewhere') }).end('no');
    };
    fixture.engine.put(fixture.subscription('s', receiver.url(), [UPDATED]));
    await fixture.emit(updates(1, 1));
    const { attempts } = await eventually(
      () => Promise.resolve(fixture.engine.attempts('s', undefined, 10)),
      (page) => page.attempts.length > 0,
    );
    expect(attempts[0]).toMatchObject({ attempt: 1, outcome: 'retried', status, error: null, answer: 'no' });
    expect(receiver.at('/elsewhere')).toEqual([]);
  });

  it('is one without an answer in time, with a broken or refused connection, or to a forbidden address', async () => {
    // Only the first fixture is impatient, because answers and breaks may take long on a busy machine.
    const [impatient, patient] = [fixtureWith({ settings: { answer_seconds: 1 } }), fixtureWith()];
    receiver.answering = ({ path }, response) => {
      if (path === '/broken') response.destroy();
    };
    const closedUrl = `http://127.0.0.1:${await freePort()}/hook`;
    impatient.engine.put(impatient.subscription('silent', receiver.url('/silent'), [UPDATED]));
    patient.engine.put(patient.subscription('broken', receiver.url('/broken'), [UPDATED]));
    patient.engine.put(patient.subscription('refused', closedUrl, [UPDATED]));
    patient.engine.put(patient.subscription('forbidden', 'https://10.0.0.1/', [UPDATED]));
    for (const fixture of [impatient, patient]) await fixture.emit(updates(1, 1));
    const reasons = {
      silent: /no answer in 1 s/,
      broken: /closed|reset|hang/i,
      refused: /ECONNREFUSED/,
      forbidden: /10\.0\.0\.1/,
    };
    for (const [id, reason] of Object.entries(reasons)) {
      const { engine } = id === 'silent' ? impatient : patient;
      const { attempts } = await eventually(
        () => Promise.resolve(engine.attempts(id, undefined, 1)),
        (page) => page.attempts.length > 0,
      );
      expect(attempts[0], id).toMatchObject({ status: null, outcome: 'retried' });
      expect(attempts[0]?.error, id).toMatch(reason);
    }
  });

  it('is not one with a long answer, of which the first kilobyte is kept', async () => {
    const fixture = fixtureWith();
    receiver.answering = (_delivery, response) => response.writeHead(200).end('y'.repeat(1_000_000));
    fixture.engine.put(fixture.subscription('s', receiver.url(), [UPDATED]));
    await fixture.emit(updates(2, 2));
    const { attempts } = await eventually(
      () => Promise.resolve(fixture.engine.attempts('s', undefined, 10)),
      (page) => page.attempts.length === 2,
    );
    for (const each of attempts) expect(each).toMatchObject({ outcome: 'delivered', answer: 'y'.repeat(1024) });
  });
});

describe('the delivery log', () => {
  it('deletes attempts after 30 days, and the oldest ones beyond its limit', async () => {
    const timers = new SimulatedTimers();
    const fixture = fixtureWith({ timers, settings: { log_entries_max: 100 } });
    fixture.engine.put(fixture.subscription('s', receiver.url(), [UPDATED]));
    await fixture.emitAndMove(updates(150, 150));
    const logged = () => fixture.engine.attempts('s', undefined, 1000).attempts.length;
    await timers.pass(60_000, fixture.settled);
    await eventually(
      () => Promise.resolve(logged()),
      (count) => count === 150,
    );
    await timers.pass(2 * HOUR_MS, fixture.settled);
    await eventually(
      () => Promise.resolve(logged()),
      (count) => count === 100,
    );
    await timers.pass(29 * 24 * HOUR_MS, fixture.settled);
    expect(logged()).toBe(100);
    await timers.pass(25 * HOUR_MS, fixture.settled);
    await eventually(
      () => Promise.resolve(logged()),
      (count) => count === 0,
    );
  });
});

describe('closing the engine', () => {
  it('leaves no timer behind that would keep the thread alive, even if a delivery fails in that moment', async () => {
    const timers = new SimulatedTimers();
    const fixture = fixtureWith({ timers });
    let answer = (): void => undefined;
    receiver.answering = (_delivery, response) => {
      answer = () => response.writeHead(500).end();
    };
    fixture.engine.put(fixture.subscription('s', receiver.url(), [UPDATED]));
    await fixture.emit(updates(1, 1));
    await eventually(succeeded, (all) => all.length === 1);
    const closed = fixture.reopen();
    answer();
    await closed;
    // The hourly check of the log, of the engine that is open now.
    expect(timers.waiting).toBe(1);
    expect(fixture.engine.attempts('s', undefined, 1).attempts).toMatchObject([{ attempt: 1, outcome: 'retried' }]);
  });
});
