/**
 * Events of lists, fields and the group that a webhook must receive: each change once, and those of a list, a field or
 * a group in order.
 */
import { isDeepStrictEqual } from 'node:util';
import { eventually } from '../support/eventually.js';
import type { WebhookReceiver, Received } from '../support/webhook-receiver.js';
import { same } from './difference.js';
import type { Operation } from './operations.js';
import type { ReferenceList } from './reference-list.js';
import type { ReplayState } from './replay-state.js';
import { distinctDeliveries, subscribed, type Subscription } from './told-events.js';

const ROLES = ['facet', 'searchable-field'] as const;
const CHANGES = ['created', 'updated', 'renamed', 'deleted'];
const EVENTS = [
  ...['list.created', 'list.updated', 'list.deleted'],
  ...ROLES.flatMap((role) => CHANGES.map((change) => `${role}.${change}`)),
];

type Snapshot = Pick<ReferenceList, 'definition' | 'model' | 'rules' | 'queryRules' | 'version'> & {
  readonly list: ReferenceList;
};

export class ToldSettings {
  /**
   * Expected events by subject. Versions of a list are a separate subject, since their order relative to its settings
   * is not fixed.
   */
  readonly #expected = new Map<string, string[]>();
  #before: readonly Snapshot[] = [];
  #groupVersion = 0;

  private constructor(
    private readonly receiver: WebhookReceiver,
    private readonly subscription: Subscription,
  ) {}

  static async begin(state: ReplayState): Promise<ToldSettings> {
    const { receiver, service, prefix } = state;
    return new ToldSettings(
      receiver,
      await subscribed(receiver, service, { path: `${prefix}/settings`, events: EVENTS }),
    );
  }

  /** Expects the events of what the operation changed; without an operation, those of the initial state. */
  observe(state: ReplayState, operation?: Operation): void {
    const now = state.lists.map((list): Snapshot => {
      const { definition, model, rules, queryRules, version } = list;
      return { list, definition, model, rules, queryRules, version };
    });
    for (const [at, after] of now.entries()) {
      const name = state.name(at);
      const before = this.#before[at];
      if (before?.list !== after.list) {
        if (before !== undefined) this.#expect(`list ${name}`, 'deleted');
        this.#expect(`list ${name}`, `created ${String(after.model)}`);
        continue;
      }
      if (operation?.kind === 'model' && operation.list === at) this.#model(name, before, after);
      for (const [setting, member] of [
        ['synonym_rules', 'rules'],
        ['query_rules', 'queryRules'],
      ] as const)
        if (!isDeepStrictEqual(before[member], after[member])) this.#expect(`list ${name}`, `updated ${setting}`);
      if (after.version > before.version) this.#fields(name, before, after);
    }
    const { version } = state.group;
    for (let each = this.#groupVersion + 1; each <= version; each += 1)
      this.#expect(`group ${state.prefix}`, `${each === 1 ? 'created' : 'updated'} ${each}`);
    this.#before = now;
    this.#groupVersion = version;
  }

  /** Expects the two changes of a change of the model, which goes through null. */
  #model(name: string, before: Snapshot, after: Snapshot): void {
    const steps = before.model === null ? [after.model] : [null, after.model];
    for (const [at, model] of steps.entries())
      if (model !== (at === 0 ? before.model : null)) this.#expect(`list ${name}`, `updated model ${String(model)}`);
  }

  #fields(name: string, before: Snapshot, after: Snapshot): void {
    this.#expect(`version ${name}`, String(after.version));
    const roles = { facet: 'facets', 'searchable-field': 'searchable' } as const;
    for (const role of ROLES) {
      const [old, made] = [before, after].map(({ definition }) => namedFields(definition[roles[role]]));
      for (const field of new Set([...(old?.keys() ?? []), ...(made?.keys() ?? [])])) {
        const [was, is] = [old?.get(field), made?.get(field)];
        if (isDeepStrictEqual(was, is)) continue;
        const change = was === undefined ? 'created' : is === undefined ? 'deleted' : 'updated';
        this.#expect(`${role} ${name} ${field}`, `${change} ${JSON.stringify(is ?? was)}`);
      }
    }
  }

  #expect(key: string, event: string): void {
    this.#expected.set(key, [...(this.#expected.get(key) ?? []), event]);
  }

  async check(): Promise<void> {
    const { service, path } = this.subscription;
    const count = [...this.#expected.values()].reduce((sum, events) => sum + events.length, 0);
    await eventually(
      async () => ({
        known: distinctDeliveries(this.receiver, path).length,
        queued: await service.metric('gannet_webhook_deliveries_queued'),
      }),
      ({ known, queued }) => known >= count && queued === 0,
    );
    const told = new Map<string, string[]>();
    for (const { key, event } of distinctDeliveries(this.receiver, path).map(asTold))
      told.set(key, [...(told.get(key) ?? []), event]);
    for (const key of new Set([...told.keys(), ...this.#expected.keys()]))
      same(`events of a ${key.split(' ')[0]}`, [key, told.get(key) ?? []], [key, this.#expected.get(key) ?? []]);
  }

  async end(): Promise<void> {
    const { service, id } = this.subscription;
    await service.client.delete(`/webhook/default/${id}`);
  }
}

function namedFields(fields: readonly (string | { readonly name: string })[]): Map<string, unknown> {
  return new Map(
    fields.map((field) => {
      if (typeof field === 'string') return [field, { name: field, weight: 1 }];
      return [field.name, field];
    }),
  );
}

function asTold({ headers, body: { id, list, data } }: Received): { readonly key: string; readonly event: string } {
  const [role = '', change = ''] = String(headers['x-service-event']).split('.');
  if (role !== 'list') {
    const told = role === 'facet' ? { name: data['name'], type: data['type'], cardinality: data['cardinality'] } : data;
    return { key: `${role} ${list} ${id}`, event: `${change} ${JSON.stringify(told)}` };
  }
  if (data['kind'] === 'group') return { key: `group ${id}`, event: `${change} ${String(data['current_version'])}` };
  if (change !== 'updated')
    return { key: `list ${id}`, event: change === 'created' ? `created ${String(data['model'])}` : change };
  const [setting] = data['changed'] as string[];
  if (setting === 'current_version') return { key: `version ${id}`, event: String(data['current_version']) };
  const value = setting === 'model' ? ` ${String(data['model'])}` : '';
  return { key: `list ${id}`, event: `updated ${(data['changed'] as string[]).join()}${value}` };
}
