/** Events of records that a webhook must receive: one for each acknowledged change, and those of a record in order. */
import { eventually } from '../support/eventually.js';
import type { TestService } from '../support/service.js';
import { WebhookReceiver, type Received } from '../support/webhook-receiver.js';
import { holdsTrue, same } from './difference.js';

const EVENTS = ['created', 'updated', 'deleted', 'bulk-created'].map((what) => `searchresult.${what}`);
/** One in this many deliveries is refused at first. */
const REFUSED_EVERY = 10;

export interface Told {
  readonly id: string;
  readonly name: string;
  readonly fields: object;
}
type Change = 'created' | 'updated' | 'deleted';
export interface Subscription {
  readonly service: TestService;
  /** Path of the receiver that the deliveries are sent to. */
  readonly path: string;
  readonly id: string;
}

/** Deliveries that were refused, and will be sent again. */
const refusals = new WeakSet<Received>();

/** Starts the receiver of all webhooks of a test. */
export async function startReceiver(): Promise<WebhookReceiver> {
  const receiver = await WebhookReceiver.start();
  const refused = new Set<string>();
  let count = 0;
  receiver.answering = (delivery, response) => {
    const id = String(delivery.headers['x-service-delivery']);
    const isRefused = (count += 1) % REFUSED_EVERY === 0 && !refused.has(id);
    if (isRefused) {
      refused.add(id);
      refusals.add(delivery);
    }
    response.writeHead(isRefused ? 503 : 204).end();
  };
  return receiver;
}

export async function subscribed(
  receiver: WebhookReceiver,
  service: TestService,
  { path, events }: { readonly path: string; readonly events: readonly string[] },
): Promise<Subscription> {
  const { status, body, text } = await service.client.post('/webhook', { url: receiver.url(`/${path}`), events });
  same('status of a webhook', [status, status === 201 ? '' : text], [201, '']);
  return { service, path: `/${path}`, id: (body as { id: string }).id };
}

/** Returns each delivery once, in the order of first acceptance. */
export function distinctDeliveries(receiver: WebhookReceiver, path: string): Received[] {
  const byId = new Map<string, Received>();
  for (const delivery of receiver.at(path).filter((each) => !refusals.has(each))) {
    const id = String(delivery.headers['x-service-delivery']);
    const before = byId.get(id);
    holdsTrue('a delivery that is sent again', before === undefined || before.text === delivery.text, () => [
      before,
      delivery,
    ]);
    // A repeated delivery keeps its first place; a retried delivery is never overtaken by another of the same record.
    byId.set(id, before ?? delivery);
  }
  return [...byId.values()];
}

export class ToldEvents {
  /** Expected events by list and record ID, or by list alone for bulk calls. */
  readonly #expected = new Map<string, string[]>();
  /** Records with concurrent writes; for those in `#unknown`, a kill left the outcome unknown. */
  readonly #unordered = new Set<string>();
  readonly #unknown = new Set<string>();

  private constructor(
    private readonly receiver: WebhookReceiver,
    private readonly subscription: Subscription,
  ) {}

  static async begin(receiver: WebhookReceiver, service: TestService, prefix: string): Promise<ToldEvents> {
    return new ToldEvents(receiver, await subscribed(receiver, service, { path: prefix, events: EVENTS }));
  }

  changed(list: string, change: Change, { id, name, fields }: Told, previous?: string): void {
    this.#expect(`${list}/${id}`, changeOf(change, { name, fields, previous_name: previous }));
  }

  /** Expects an event of a record with concurrent writes. */
  contended(list: string, change: Change, id: string): void {
    this.#unordered.add(`${list}/${id}`);
    this.#expect(`${list}/${id}`, change);
  }

  imported(list: string, created: number, updated: number): void {
    if (created + updated > 0) this.#expect(list, JSON.stringify([created, updated]));
  }

  /** Ignores events of these records and of bulk calls of the list: a kill left their outcome unknown. */
  interrupted(list: string, ids: readonly string[]): void {
    for (const key of [list, ...ids.map((id) => `${list}/${id}`)]) this.#unknown.add(key);
  }

  async check(): Promise<void> {
    const { service, path } = this.subscription;
    const wanted = [...this.#expected].filter(([key]) => !this.#unknown.has(key));
    const count = wanted.reduce((sum, [, events]) => sum + events.length, 0);
    const isKnown = (key: string) => !this.#unknown.has(key);
    await eventually(
      async () => ({
        known: distinctDeliveries(this.receiver, path).filter((each) => isKnown(keyOf(each))).length,
        queued: await service.metric('gannet_webhook_deliveries_queued'),
      }),
      ({ known, queued }) => known >= count && queued === 0,
    );
    const told = new Map<string, string[]>();
    for (const delivery of distinctDeliveries(this.receiver, path)) {
      const key = keyOf(delivery);
      told.set(key, [...(told.get(key) ?? []), textOf(delivery)]);
    }
    for (const key of new Set([...told.keys(), ...this.#expected.keys()])) {
      if (!isKnown(key)) continue;
      const [is, expected] = [told.get(key) ?? [], this.#expected.get(key) ?? []];
      if (this.#unordered.has(key)) same('events of a contended record', typesOf(is), typesOf(expected));
      else same('events of a record', is, expected);
    }
  }

  async end(): Promise<void> {
    const { service, id } = this.subscription;
    await service.client.delete(`/webhook/default/${id}`);
  }

  #expect(key: string, event: string): void {
    this.#expected.set(key, [...(this.#expected.get(key) ?? []), event]);
  }
}

function keyOf({ body: { id, list } }: Received): string {
  return id === '' ? list : `${list}/${id}`;
}

function textOf({ headers, body: { id, data } }: Received): string {
  if (id === '') return JSON.stringify([data['created'], data['updated']]);
  const change = String(headers['x-service-event']).replace('searchresult.', '');
  return changeOf(change, data);
}

function changeOf(
  change: string,
  { name, fields, previous_name: previous }: Readonly<Record<string, unknown>>,
): string {
  const sorted = Object.entries(fields as object).sort(([left], [right]) => (left < right ? -1 : 1));
  return `${change} ${JSON.stringify([name, sorted, previous ?? null])}`;
}

const typesOf = (events: readonly string[]) => events.map((event) => event.split(' ')[0]).sort();
