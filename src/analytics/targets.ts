/** The subject of events and reports: one list or group, with an identity that is never reused after a deletion. */

export interface AnalyticsTarget {
  readonly kind: 'list' | 'group';
  /** `list:<id>`, or `group:<account>/<name>/<creation time>`. */
  readonly identity: string;
}

/**
 * One target per record of the catalogue, since a search answered from the cache takes no longer than creating the text
 * would.
 */
const known = new WeakMap<object, AnalyticsTarget>();

/** Returns the target of a list; the same object for the same record. */
export function listTarget(list: { readonly id: string }): AnalyticsTarget {
  return knownTarget(list, () => ({ kind: 'list', identity: `list:${list.id}` }));
}

/** Groups have no id; a group created again under the same name has another creation time. */
export function groupTarget(group: {
  readonly account: string;
  readonly name: string;
  readonly created_utc: string;
}): AnalyticsTarget {
  return knownTarget(group, () => {
    const { account, name, created_utc } = group;
    return { kind: 'group', identity: `group:${account}/${name}/${created_utc}` };
  });
}

function knownTarget(record: object, make: () => AnalyticsTarget): AnalyticsTarget {
  let target = known.get(record);
  if (target === undefined) known.set(record, (target = make()));
  return target;
}

export function isListIdentity(identity: string): boolean {
  return identity.startsWith('list:');
}

/** Returns the id of the list of an identity; undefined for a group. */
export function listIdOf(identity: string): string | undefined {
  return isListIdentity(identity) ? identity.slice('list:'.length) : undefined;
}
