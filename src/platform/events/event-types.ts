/**
 * Events that the service delivers to webhooks: those of this table, and those that features declare. To add one, add a
 * row to this table or to that of a feature.
 */

export interface EventKind {
  /** When it fires. */
  readonly description: string;
  /** False: the event is announced, but nothing fires it unless a feature declares it. Default true. */
  readonly isFired?: false;
}

const EVENT_CATALOGUE = {
  'searchresult.created': { description: 'A record is added by itself' },
  'searchresult.updated': { description: 'A record is changed, or renamed (with `previous_name`)' },
  'searchresult.deleted': { description: 'A record is removed, by its id or by a filter' },
  'searchresult.bulk-created': {
    description: 'A bulk call has written records: one event for the call, with their `count`',
  },
  'list.created': { description: 'A list or (with `kind` "group") a group is made' },
  'list.updated': {
    description:
      'Settings of a list, its current version, or the members of a group change: `changed` names the settings of a list, and members of more than 16 KiB, such as many rules, are named in `left_out` and are to be read from the list or group',
  },
  'list.deleted': { description: 'A list or a group is deleted' },
  'facet.created': { description: 'A facet is added to a list' },
  'facet.updated': { description: 'Type or cardinality of a facet change' },
  'facet.renamed': { description: 'A facet has another name (with `previous_name`)' },
  'facet.deleted': { description: 'A facet is removed from a list' },
  'searchable-field.created': { description: 'A searchable field is added to a list' },
  'searchable-field.updated': { description: 'The weight of a searchable field changes' },
  'searchable-field.renamed': { description: 'A searchable field has another name (with `previous_name`)' },
  'searchable-field.deleted': { description: 'A searchable field is removed from a list' },
  'resource.created': { description: 'A resource field is added to a list' },
  'resource.updated': { description: 'The kind of a resource field changes' },
  'resource.renamed': { description: 'A resource field has another name (with `previous_name`)' },
  'resource.deleted': { description: 'A resource field is removed from a list' },
  'media.uploaded': { description: 'A file is put into a media store', isFired: false },
  'media.deleted': { description: 'A file is removed from a media store', isFired: false },
  'media-store.created': { description: 'A media store is added', isFired: false },
  'media-store.deleted': { description: 'A media store is removed', isFired: false },
  'api-key.created': { description: 'An API key is made; the key itself is never told' },
  'api-key.deleted': { description: 'An API key is revoked' },
  'contributor.added': { description: 'A contributor is added to the account', isFired: false },
  'contributor.removed': { description: 'A contributor is removed from the account', isFired: false },
  'eval.run-completed': { description: 'An evaluation has finished', isFired: false },
  'eval.run-regressed': { description: 'The score of an evaluation is below its baseline', isFired: false },
  'subscription.auto-upgraded': {
    description: 'The plan is upgraded near a limit (with `from_plan` and `to_plan`)',
    isFired: false,
  },
  'webhook.ping': { description: 'A test is asked for; told to that one webhook, whether it subscribes to it or not' },
} as const satisfies Record<string, EventKind>;

export type EventType = keyof typeof EVENT_CATALOGUE;

/** All events that can be subscribed to. */
export class EventCatalogue {
  readonly types: readonly string[];
  readonly #kinds: Readonly<Record<string, EventKind>>;

  /** `declared`: events that features fire. Throws if one of them is already fired by another declaration. */
  constructor(declared: readonly Readonly<Record<string, EventKind>>[] = []) {
    const kinds: Record<string, EventKind> = { ...EVENT_CATALOGUE };
    for (const [type, kind] of declared.flatMap((each) => Object.entries(each))) {
      if (kinds[type] !== undefined && kinds[type].isFired !== false) throw new Error(`two fire the event '${type}'`);
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
    return this.isFired(type) ? description : `${description}. Not yet: nothing in this release fires it`;
  }
}
