/**
 * Webhook events of lists and groups. Both are `list.*` events, distinguished by the member `kind` of the data. The
 * `list` of a group's event is empty, so that it is not mistaken for a list of the same name.
 */
import { isDeepStrictEqual } from 'node:util';
import type { EventContent } from '../platform/index.js';
import { currentMembers } from './group-versions.js';
import type { FieldDefinition, GroupRecord, ListRecord } from './types.js';

/** Members of a list's entry that are settings; the others are its identity. */
const SETTINGS = [
  'engine',
  'language',
  'query_rules',
  'synonym_rules',
  'model',
  'reranker',
  'suggestions',
] as const satisfies readonly (keyof ListRecord)[];

/** `fields`: definition of the list's first version; undefined if it is not known. */
export function listCreatedEvent(list: ListRecord, fields: FieldDefinition | undefined): EventContent {
  return listEvent('list.created', list.name, { ...settingsOf(list), ...describeFields(fields) });
}

/** Undefined if no setting differs. `changed` names those that do. */
export function listUpdatedEvent(before: ListRecord, after: ListRecord): EventContent | undefined {
  const own = SETTINGS.filter((setting) => !isDeepStrictEqual(before[setting], after[setting]));
  const added = Object.keys({ ...before.features, ...after.features }).filter(
    (name) => !isDeepStrictEqual(before.features?.[name], after.features?.[name]),
  );
  const changed = [...own, ...added];
  return changed.length === 0 ? undefined : listEvent('list.updated', after.name, { changed, ...settingsOf(after) });
}

/** Event of a version that was built and is now current. */
export function versionCurrentEvent(list: string, version: number, fields: FieldDefinition): EventContent {
  const data = { changed: ['current_version'], current_version: version, ...describeFields(fields) };
  return listEvent('list.updated', list, data);
}

export function listDeletedEvent(list: string): EventContent {
  return listEvent('list.deleted', list, {});
}

export function groupEvent(type: 'list.created' | 'list.updated' | 'list.deleted', group: GroupRecord): EventContent {
  const { name, current_version, reranker } = group;
  const lists = currentMembers(group).map(({ list, version }) =>
    version === undefined ? { list } : { list, version },
  );
  return { type, id: name, list: '', data: { kind: 'group', name, lists, current_version, reranker } };
}

function listEvent(type: EventContent['type'], name: string, data: EventContent['data']): EventContent {
  return { type, id: name, list: name, data: { kind: 'list', name, ...data } };
}

function settingsOf(list: ListRecord): Record<string, unknown> {
  return { ...Object.fromEntries(SETTINGS.map((setting) => [setting, list[setting]])), ...list.features };
}

function describeFields(fields: FieldDefinition | undefined): Record<string, unknown> {
  if (fields === undefined) return {};
  const { searchable_fields, facets, resources, location_field } = fields;
  return { searchable_fields, facets, resources, location_field };
}
