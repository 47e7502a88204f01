/** What events and reports are about: one list or one group, under a name that is never used again once it was deleted. */

export interface AnalyticsTarget {
  readonly kind: 'list' | 'group';
  /** `list:<id>`, or `group:<account>/<name>/<when it was made>`. */
  readonly identity: string;
}

export function listTarget(id: string): AnalyticsTarget {
  return { kind: 'list', identity: `list:${id}` };
}

/** Groups have no id; a group that is made again under its name was made at another time. */
export function groupTarget(group: {
  readonly account: string;
  readonly name: string;
  readonly created_utc: string;
}): AnalyticsTarget {
  return { kind: 'group', identity: `group:${group.account}/${group.name}/${group.created_utc}` };
}

export function isListIdentity(identity: string): boolean {
  return identity.startsWith('list:');
}

/** The id of the list that an identity names; undefined for a group. */
export function listIdOf(identity: string): string | undefined {
  return isListIdentity(identity) ? identity.slice('list:'.length) : undefined;
}
