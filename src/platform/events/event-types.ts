/**
 * Events that the service delivers to webhooks: those of this table, and those that features declare. To add one, add a
 * row to `events` of the feature that fires it, or to this table if none does.
 */

export interface EventKind {
  /** When it fires. */
  readonly description: string;
  /** False: the event is announced, but nothing fires it yet. Default true. */
  readonly isFired?: false;
}

const EVENT_CATALOGUE = {
  'searchresult.created': { description: 'A record was added (not by a bulk call)' },
  'searchresult.updated': { description: 'A record was changed or renamed (then with `previous_name`)' },
  'searchresult.deleted': { description: 'A record was deleted, by its id or by a filter' },
  'searchresult.bulk-created': {
    description: 'A bulk call wrote records: one event for the call, with their `count`',
  },
  'list.created': { description: 'A list was created or, with `kind` "group", a group' },
  'list.updated': {
    description:
      'The settings of a list, its current version, or the members of a group changed. `changed` names the settings of a list that changed. Members of more than 16 KiB, such as many rules, are only named in `left_out`: read them from the list or group',
  },
  'list.deleted': { description: 'A list was deleted or, with `kind` "group", a group' },
  'facet.created': { description: 'A facet was added to a list' },
  'facet.updated': { description: 'The type or cardinality of a facet changed' },
  'facet.renamed': { description: 'A facet was renamed (with `previous_name`)' },
  'facet.deleted': { description: 'A facet was removed from a list' },
  'searchable-field.created': { description: 'A searchable field was added to a list' },
  'searchable-field.updated': { description: 'The weight of a searchable field changed' },
  'searchable-field.renamed': { description: 'A searchable field was renamed (with `previous_name`)' },
  'searchable-field.deleted': { description: 'A searchable field was removed from a list' },
  'resource.created': { description: 'A resource field was added to a list' },
  'resource.updated': { description: 'The kind of a resource field changed' },
  'resource.renamed': { description: 'A resource field was renamed (with `previous_name`)' },
  'resource.deleted': { description: 'A resource field was removed from a list' },
  'api-key.created': { description: 'An API key was created; the key itself is never sent' },
  'api-key.deleted': { description: 'An API key was deleted' },
  'eval.run-completed': { description: 'An evaluation finished', isFired: false },
  'eval.run-regressed': { description: 'The score of an evaluation dropped below its baseline', isFired: false },
  'webhook.ping': {
    description: 'A test was requested. Sent only to the tested webhook, whether or not it subscribes to this type',
  },
} as const satisfies Record<string, EventKind>;

export type EventType = keyof typeof EVENT_CATALOGUE;

/** All events that can be subscribed to. */
export class EventCatalogue {
  readonly types: readonly string[];
  readonly #kinds: Readonly<Record<string, EventKind>>;

  /** `declared`: events that features fire. Throws if one of them is declared twice. */
  constructor(declared: readonly Readonly<Record<string, EventKind>>[] = []) {
    const kinds: Record<string, EventKind> = { ...EVENT_CATALOGUE };
    for (const [type, kind] of declared.flatMap((each) => Object.entries(each))) {
      if (kinds[type] !== undefined) throw new Error(`the event '${type}' is declared twice`);
      kinds[type] = kind;
    }
    this.#kinds = kinds;
    this.types = Object.keys(kinds);
  }

  has(type: string): boolean {
    return Object.hasOwn(this.#kinds, type);
  }

  /** True if something in this release fires the event. */
  isFired(type: string): boolean {
    return this.#kinds[type] !== undefined && this.#kinds[type].isFired !== false;
  }

  /** Returns the text that describes the event in the API and documentation. */
  description(type: string): string {
    const { description = '' } = this.#kinds[type] ?? {};
    return this.isFired(type) ? description : `${description}. Not sent by this release`;
  }
}
