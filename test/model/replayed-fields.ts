/** Follows changes to the fields of a list: the new version, and which old ones are kept. */
import { eventually } from '../support/eventually.js';
import { same, shown } from './difference.js';
import type { Definition } from './reference-values.js';
import type { ReplayState } from './replay-state.js';

const VERSIONS_KEPT = 2;

export interface ToldList {
  readonly current_version: number;
  readonly versions: readonly { readonly state: string }[];
  readonly query_rules: readonly object[];
}

export function fieldsOf({ searchable, facets, location }: Definition) {
  return { searchable_fields: searchable.map((name) => ({ name, weight: 1 })), facets, location_field: location };
}

/** Waits until no version of the list is being built, and returns the list. */
export function listAtRest(state: ReplayState, list: number): Promise<ToldList> {
  return eventually(
    async () => (await state.client.get(`/list/default/${state.name(list)}`)).body as ToldList,
    ({ versions }) => versions.every((version) => version.state === 'ready'),
  );
}

/** Compares the current version with the one expected after the change, and changes the reference. */
export async function redefined(state: ReplayState, list: number, definition: Definition): Promise<void> {
  const reference = state.list(list);
  const { current_version: current } = await listAtRest(state, list);
  if (shown(fieldsOf(reference.definition)) === shown(fieldsOf(definition)))
    return same('version that nothing has changed for', current, reference.version);
  reference.frozen.set(reference.version, reference.copy());
  reference.version += 1;
  same('version after a change', current, reference.version);
  reference.frozen.delete(reference.version - VERSIONS_KEPT - 1);
  reference.redefine(definition);
}
