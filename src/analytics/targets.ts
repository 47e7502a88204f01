/** What events and reports are about: one list or one group, under a name that is never used again once it was deleted. */

export interface AnalyticsTarget {
  readonly kind: 'list' | 'group';
  /** `list:<id>`, or `group:<account>/<name>/<when it was made>`. */
  readonly identity: string;
}

/** Made once for each record of the catalogue: a search that is answered from memory takes no longer than making the text would. */
const known = new WeakMap<object, AnalyticsTarget>();

/** The target of a list; the same object for the same record. */
export function listTarget(list: { readonly id: string }): AnalyticsTarget {
  return knownTarget(list, () => ({ kind: 'list', identity: `list:${list.id}` }));
}

/** Groups have no id; a group that is made again under its name was made at another time. */
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

/** The id of the list that an identity names; undefined for a group. */
export function listIdOf(identity: string): string | undefined {
  return isListIdentity(identity) ? identity.slice('list:'.length) : undefined;
}
