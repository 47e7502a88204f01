/**
 * Kills the service (SIGKILL) at random moments while records are deleted and webhooks are sent an event for each.
 * Every deletion is sent at least once, nothing is sent that did not happen, and repeated events have the same
 * delivery id. `GANNET_WEBHOOK_KILL_DELIVERIES` (default 4000), `GANNET_WEBHOOK_KILLS` (default 3), from
 * `GANNET_KILL_SEED`.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { SeededRandom } from '../support/random.js';
import { startTestService, type TestService } from '../support/service.js';
import { WebhookReceiver, type Received } from '../support/webhook-receiver.js';

const DELIVERIES = Number(process.env['GANNET_WEBHOOK_KILL_DELIVERIES'] ?? 4000);
const KILLS = Number(process.env['GANNET_WEBHOOK_KILLS'] ?? 3);
const SEED = Number(process.env['GANNET_KILL_SEED'] ?? 1);
/** Records that one deletion by filter deletes. */
const PART_RECORDS = Math.min(20_000, Math.ceil(DELIVERIES / 4));
const IMPORT_RECORDS = 50_000;
/** A kill comes a random time after a random number of further deliveries; on a slow machine, earlier. */
const KILL_AFTER_MS_MAX = 500;
const KILL_WAIT_MS_MAX = 8000;
/** One delivery in this many is refused, so that some are being retried when the service dies. */
const REFUSED_ONE_IN = 500;
/** Far below what the service delivers, for machines that do other things as well. */
const DELIVERIES_PER_SECOND_MIN = 200;
const SETTINGS = { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true', GANNET_LOG_LEVEL: 'warn' };

const random = new SeededRandom(SEED);
/** By number of the record: the id of its delivery. */
const told = new Map<number, string>();
const problems: string[] = [];
let repeats = 0;
let service: TestService;
let receiver: WebhookReceiver;

beforeAll(async () => {
  receiver = await WebhookReceiver.start();
  receiver.isKeeping = false;
  receiver.answering = (delivery, response) => {
    const isTaken = random.below(REFUSED_ONE_IN) > 0;
    if (isTaken) note(delivery);
    response.writeHead(isTaken ? 204 : 503).end();
  };
  service = await startTestService({ env: SETTINGS });
});
afterAll(async () => {
  await service.stop('SIGKILL');
  await service.close();
  await receiver.close();
});

function note({ headers, body }: Received): void {
  const number = Number(/^r(\d+)$/u.exec(String(body.data['name']))?.[1] ?? Number.NaN);
  const id = String(headers['x-service-delivery']);
  const before = told.get(number);
  if (!(number >= 0 && number < DELIVERIES)) problems.push(`there is no record ${JSON.stringify(body)}`);
  else if (before === undefined) told.set(number, id);
  else if (before === id) repeats += 1;
  else problems.push(`record ${number} is told as ${before} and as ${id}`);
}

const partOf = (number: number) => Math.floor(number / PART_RECORDS);

async function fill(): Promise<void> {
  const { client } = service;
  const list = { name: 'told', facets: [{ name: 'part', type: 'number' }] };
  expect((await client.post('/list/default', list)).status).toBe(201);
  for (let first = 0; first < DELIVERIES; first += IMPORT_RECORDS) {
    const numbers = Array.from({ length: Math.min(IMPORT_RECORDS, DELIVERIES - first) }, (_, n) => first + n);
    const records = numbers.map((number) => ({ name: `r${number}`, part: partOf(number) }));
    const { status, text } = await client.bulk('default', 'told', records);
    expect(status, text).toBe(200);
  }
  const subscribed = await client.post('/webhook', { url: receiver.url(), events: ['searchresult.deleted'] });
  expect(subscribed.status, subscribed.text).toBe(201);
}

/** Deletes one part after the other, and repeats a request without an answer. Resolves when all are deleted. */
async function removeAll(): Promise<void> {
  for (let part = 0; part <= partOf(DELIVERIES - 1);) {
    try {
      const answer = await service.client.delete('/search-result/default/told', { filter: `part = ${part}` });
      if (answer.status === 200) part += 1;
    } catch {
      // The service is dead or not started yet.
      await pause(50);
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Resolves when this many more deliveries have come, or after some seconds without any. */
async function moreTold(count: number): Promise<void> {
  const target = Math.min(DELIVERIES, told.size + count);
  const endMs = performance.now() + KILL_WAIT_MS_MAX;
  while (told.size < target && performance.now() < endMs) await pause(5);
}

it(
  `The events of ${DELIVERIES} deletions are sent at least once, under one id each, across ${KILLS} kills`,
  async () => {
    const startedMs = performance.now();
    await fill();
    const removing = removeAll();
    for (let kill = 0; kill < KILLS; kill += 1) {
      await moreTold(random.below(Math.ceil(DELIVERIES / KILLS)));
      await pause(random.below(KILL_AFTER_MS_MAX));
      await service.stop('SIGKILL');
      await service.start();
    }
    await removing;
    let seen = -1;
    // As long as some arrive in each turn of `eventually`, there is something to wait for.
    while (told.size < DELIVERIES && told.size > seen) {
      seen = told.size;
      await eventually(
        () => Promise.resolve(told.size),
        (count) => count > seen,
      );
    }
    expect(problems.slice(0, 10)).toEqual([]);
    expect(told.size).toBe(DELIVERIES);
    expect(new Set(told.values()).size).toBe(DELIVERIES);
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
    console.log(
      `webhooks kill test: ${DELIVERIES} deliveries, ${KILLS} kills, ${repeats} repeated under the same id, ` +
        `${seconds} s, seed ${SEED}: none lost, none under two ids`,
    );
  },
  480_000 + KILLS * 60_000 + (DELIVERIES / DELIVERIES_PER_SECOND_MIN) * 1000,
);
