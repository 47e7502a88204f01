/**
 * Files, media stores, keys and contributors of a sequence: checks that they exist as made, and that a webhook receives
 * each change once, in order.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually.js';
import type { Received } from '../support/webhook-receiver.js';
import { holdsTrue, same } from './difference.js';
import type { AccountStep } from './operations.js';
import { answered, type ReplayState } from './replay-state.js';
import { distinctDeliveries, subscribed, type Subscription } from './told-events.js';

const EVENTS = [
  ...['media.uploaded', 'media.deleted', 'media-store.created', 'media-store.deleted'],
  ...['api-key.created', 'api-key.deleted', 'contributor.added', 'contributor.removed'],
];
const TYPES = ['text/plain', 'application/json', 'image/png'];

interface File {
  readonly text: string;
  readonly type: string;
}
interface Added {
  readonly id: string;
  readonly key: string;
  readonly role: string;
}

export class ToldAccount {
  readonly #files = new Map<string, File>();
  readonly #stores = new Set<string>();
  /** Keys and contributors by their numbers in the sequence. */
  readonly #keys = new Map<number, Added>();
  readonly #people = new Map<number, Added>();
  /** Expected events by subject. */
  readonly #expected = new Map<string, string[]>();

  private constructor(
    private readonly state: ReplayState,
    private readonly subscription: Subscription,
  ) {}

  static async begin(state: ReplayState): Promise<ToldAccount> {
    const { receiver, service, prefix } = state;
    return new ToldAccount(state, await subscribed(receiver, service, { path: `${prefix}/account`, events: EVENTS }));
  }

  step({ what, number, variant }: AccountStep): Promise<unknown> {
    switch (what) {
      case 'file':
        return variant === 0 ? this.#removeFile(number) : this.#upload(number, variant);
      case 'store':
        return variant === 0 ? this.#removeStore(number) : this.#addStore(number);
      case 'key':
        return variant === 0 ? this.#deleteKey(number) : this.#createKey(number, variant);
      case 'contributor':
        return variant === 0 ? this.#remove(number) : this.#addOrChange(number, variant);
    }
  }

  async #upload(number: number, variant: number): Promise<void> {
    const [path, type] = [this.#pathOf(number), TYPES[variant % TYPES.length] ?? ''];
    const text = 'x'.repeat(variant * number);
    const sent = { bytes: text, headers: { 'Content-Type': type } };
    const { status } = await this.state.client.send('PUT', this.#addressOf(path), sent);
    same('status of an upload', status, this.#files.has(path) ? 200 : 201);
    this.#files.set(path, { text, type });
    this.#tellFile('uploaded', path);
  }

  async #removeFile(number: number): Promise<void> {
    const path = this.#pathOf(number);
    const { status } = await this.state.client.delete(this.#addressOf(path));
    same('status of the removal of a file', status, this.#files.has(path) ? 204 : 404);
    if (!this.#files.has(path)) return;
    this.#tellFile('deleted', path);
    this.#files.delete(path);
  }

  async #addStore(number: number): Promise<void> {
    const name = this.#nameOf(number);
    const folder = join(this.state.mediaFolder, name);
    mkdirSync(folder, { recursive: true });
    const { status } = await this.state.client.post('/media-store/default', { name, kind: 'folder', folder });
    same('status of a new store', status, this.#stores.has(name) ? 409 : 201);
    if (status === 201) this.#tell(`media-store ${name}`, 'created folder');
    this.#stores.add(name);
  }

  async #removeStore(number: number): Promise<void> {
    const name = this.#nameOf(number);
    const { status } = await this.state.client.delete(`/media-store/default/${name}`);
    same('status of the removal of a store', status, this.#stores.has(name) ? 204 : 404);
    if (this.#stores.delete(name)) this.#tell(`media-store ${name}`, 'deleted folder');
  }

  async #createKey(number: number, variant: number): Promise<void> {
    await this.#deleteKey(number);
    const access = variant % 2 === 0 ? 'full' : 'search-and-read';
    const { id, key } = await this.state.service.createKey({ name: this.#nameOf(number), access });
    this.#keys.set(number, { id, key, role: access });
    this.#tell(`api-key ${id}`, `created ${this.#nameOf(number)}`);
  }

  async #deleteKey(number: number): Promise<void> {
    const made = this.#keys.get(number);
    if (made === undefined) return;
    this.#keys.delete(number);
    await answered(this.state.service.control().delete(`/api-key/default/${made.id}`), 204);
    this.#tell(`api-key ${made.id}`, `deleted ${this.#nameOf(number)}`);
    const { status } = await this.state.service.clientWith(made.key).get('/account');
    same('status of a key that was deleted', status, 401);
  }

  async #addOrChange(number: number, variant: number): Promise<void> {
    const [control, email] = [this.state.service.control(), `${number}@${this.state.prefix}.example`];
    const role = variant % 2 === 0 ? 'editor' : 'viewer';
    const before = this.#people.get(number);
    if (before !== undefined) {
      await answered(control.put(`/contributor/default/${before.id}`, { role }), 200);
      this.#people.set(number, { ...before, role });
      return;
    }
    const { body } = await answered(control.post('/contributor/default', { email, role }), 201);
    const { id } = body as { id: string };
    this.#people.set(number, { id, key: '', role });
    this.#tell(`contributor ${id}`, `added ${email} ${role}`);
  }

  async #remove(number: number): Promise<void> {
    const made = this.#people.get(number);
    if (made === undefined) return;
    this.#people.delete(number);
    await answered(this.state.service.control().delete(`/contributor/default/${made.id}`), 204);
    this.#tell(`contributor ${made.id}`, `removed ${number}@${this.state.prefix}.example ${made.role}`);
  }

  /** Checks what exists, then which events were received. */
  async check(): Promise<void> {
    const { client, service, receiver, prefix } = this.state;
    const { body } = await answered(client.get('/media/default/default', { prefix: `${prefix}/`, size: 1000 }), 200);
    const { files } = body as { files: { path: string; bytes: number; content_type: string }[] };
    const known = [...this.#files].map(([path, { text, type }]) => [path, text.length, type]);
    const inOrder = known.sort(([one = ''], [other = '']) => (one < other ? -1 : 1));
    same(
      'files of a store',
      files.map(({ path, bytes, content_type: type }) => [path, bytes, type]),
      inOrder,
    );
    for (const [path, { text }] of this.#files)
      same('what a file has', (await answered(client.get(this.#addressOf(path)), 200)).text, text);
    for (const { key } of this.#keys.values()) await answered(service.clientWith(key).get('/account'), 200);
    const people = (await answered(service.control().get('/contributor/default', { size: 1000 }), 200)).body;
    const told = (people as { contributors: { id: string; role: string }[] }).contributors;
    for (const { id, role } of this.#people.values())
      same('role of a contributor', told.find((each) => each.id === id)?.role, role);
    const { path } = this.subscription;
    const count = [...this.#expected.values()].reduce((sum, events) => sum + events.length, 0);
    const own = () => distinctDeliveries(receiver, path).filter((each) => this.#isOwn(each));
    await eventually(
      async () => ({ known: own().length, queued: await service.metric('gannet_webhook_deliveries_queued') }),
      ({ known: all, queued }) => all >= count && queued === 0,
    );
    const events = new Map<string, string[]>();
    for (const delivery of own()) {
      const key = keyOf(delivery);
      holdsTrue('an event that shows a key', !delivery.text.includes('gnt_'), () => delivery.text);
      events.set(key, [...(events.get(key) ?? []), textOf(delivery)]);
    }
    for (const key of new Set([...events.keys(), ...this.#expected.keys()]))
      same(`events of a ${key.split(' ')[0]}`, [key, events.get(key)], [key, this.#expected.get(key)]);
  }

  async end(): Promise<void> {
    const { client, service } = this.state;
    for (const path of this.#files.keys()) await client.delete(this.#addressOf(path));
    for (const name of this.#stores) await client.delete(`/media-store/default/${name}`);
    for (const { id } of this.#keys.values()) await service.control().delete(`/api-key/default/${id}`);
    for (const { id } of this.#people.values()) await service.control().delete(`/contributor/default/${id}`);
    await client.delete(`/webhook/default/${this.subscription.id}`);
  }

  /** False for events of keys that other checks create. */
  #isOwn(delivery: Received): boolean {
    return !keyOf(delivery).startsWith('api-key') || this.#expected.has(keyOf(delivery));
  }

  #tellFile(change: string, path: string): void {
    const { text, type } = this.#files.get(path) ?? { text: '', type: '' };
    this.#tell(`media default/${path}`, `${change} ${text.length} ${type}`);
  }

  #tell(key: string, event: string): void {
    this.#expected.set(key, [...(this.#expected.get(key) ?? []), event]);
  }

  #nameOf(number: number): string {
    return `${this.state.prefix}-${number}`;
  }

  #pathOf(number: number): string {
    return `${this.state.prefix}/${['a.txt', 'b c.txt', 'ä/日本.txt', 'a/%2F.txt'][number % 4] ?? ''}`;
  }

  #addressOf(path: string): string {
    return `/media/default/default/${path.split('/').map(encodeURIComponent).join('/')}`;
  }
}

function keyOf({ headers, body: { id } }: Received): string {
  return `${typeOf(headers).split('.')[0]} ${id}`;
}

function textOf({ headers, body: { data } }: Received): string {
  const change = typeOf(headers).split('.')[1] ?? '';
  const of = ['bytes', 'content_type', 'kind', 'email', 'role'].filter((name) => name in data);
  const told = typeOf(headers).startsWith('api-key') ? [data['name']] : of.map((name) => data[name]);
  return [change, ...told.map(String)].join(' ');
}

const typeOf = (headers: Received['headers']) => String(headers['x-service-event']);
