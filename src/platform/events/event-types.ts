/** The one catalogue of events that the service tells to webhooks. A new kind of event is one new row. */

export const EVENT_CATALOGUE = {
  'searchresult.created': 'A record is added by itself',
  'searchresult.updated': 'A record is changed, or renamed (with `previous_name`)',
  'searchresult.deleted': 'A record is removed, by its id or by a filter',
  'searchresult.bulk-created': 'A bulk call has written records: one event for the call, with their `count`',
  'list.created': 'A list or (with `kind` "group") a group is made',
  'list.updated': 'Settings of a list, its current version, or the members of a group change',
  'list.deleted': 'A list or a group is deleted',
  'facet.created': 'A facet is added to a list',
  'facet.updated': 'Type or cardinality of a facet change',
  'facet.renamed': 'A facet has another name (with `previous_name`)',
  'facet.deleted': 'A facet is removed from a list',
  'searchable-field.created': 'A searchable field is added to a list',
  'searchable-field.updated': 'The weight of a searchable field changes',
  'searchable-field.renamed': 'A searchable field has another name (with `previous_name`)',
  'searchable-field.deleted': 'A searchable field is removed from a list',
  'resource.created': 'A resource field is added to a list',
  'resource.updated': 'The kind of a resource field changes',
  'resource.renamed': 'A resource field has another name (with `previous_name`)',
  'resource.deleted': 'A resource field is removed from a list',
  'media.uploaded': 'A file is put into a media store',
  'media.deleted': 'A file is removed from a media store',
  'media-store.created': 'A media store is added',
  'media-store.deleted': 'A media store is removed',
  'api-key.created': 'An API key is made; the key itself is never told',
  'api-key.deleted': 'An API key is revoked',
  'contributor.added': 'A contributor is added to the account',
  'contributor.removed': 'A contributor is removed from the account',
  'eval.run-completed': 'An evaluation has finished',
  'eval.run-regressed': 'The score of an evaluation is below its baseline',
  'subscription.auto-upgraded': 'The plan is upgraded near a limit (with `from_plan` and `to_plan`)',
  'webhook.ping': 'A test is asked for; told to that one webhook, whether it subscribes to it or not',
} as const satisfies Record<string, string>;

export type EventType = keyof typeof EVENT_CATALOGUE;

export const EVENT_TYPES: readonly EventType[] = Object.keys(EVENT_CATALOGUE) as EventType[];

export function isEventType(text: string): text is EventType {
  return Object.hasOwn(EVENT_CATALOGUE, text);
}
