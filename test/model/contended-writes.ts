/**
 * Sends concurrent writes of the same records: each record must end as one of the writes left it, and the counts in the
 * answers must add up.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Answer } from '../support/client.js';
import { holdsTrue, same } from './difference.js';
import type { ContendedCall, NewRecord, Operation } from './operations.js';
import type { ReferenceList } from './reference-list.js';
import { asKnown, asListed, asSent, listingOf, recordsOf } from './replay-listing.js';
import type { ReplayState } from './replay-state.js';

type Contended = Extract<Operation, { kind: 'contended' }>;

export async function contend(state: ReplayState, { list, calls }: Contended): Promise<void> {
  const reference = state.list(list);
  const before = reference.copy();
  const ids = new Map((await listingOf(state, list)).map(({ name, id }) => [name, id]));
  const sent = calls.filter((call) => call.kind !== 'delete' || ids.has(call.name));
  const answers = await Promise.all(sent.map((call) => sendOne(state, { list, call, ids })));
  let added = 0;
  /** Possible final states of each record, by name; undefined means deleted. */
  const ends = new Map<string, (NewRecord | undefined)[]>();
  const mayEnd = (name: string, as: NewRecord | undefined) => ends.set(name, [...(ends.get(name) ?? []), as]);
  for (const [at, call] of sent.entries()) {
    const { status, body } = answers[at] as Answer;
    const fitting = recordsIn(call).filter(({ fields, vectors }) => !before.refuses(fields, vectors));
    if (call.kind === 'delete') {
      holdsTrue('status of a contended delete', status === 204 || status === 404, () => status);
      if (status === 204) {
        added -= 1;
        state.told?.contended(state.name(list), 'deleted', ids.get(call.name) ?? '');
      }
      mayEnd(call.name, undefined);
    } else if (call.kind === 'put') {
      const statuses = fitting.length === 0 ? [400] : [200, 201];
      holdsTrue('status of a contended put', statuses.includes(status), () => [status, body]);
      if (status === 201) added += 1;
      if (status < 300)
        state.told?.contended(state.name(list), status === 201 ? 'created' : 'updated', (body as { id: string }).id);
    } else {
      const { created, updated, failed } = body as { created: number; updated: number; failed: number };
      same(
        'records of a contended bulk call',
        [created + updated, failed],
        [fitting.length, call.records.length - fitting.length],
      );
      added += created;
      state.told?.imported(state.name(list), created, updated);
    }
    // Within a call, the last record of a name wins.
    for (const record of new Map(fitting.map((each) => [each.name, each])).values()) mayEnd(record.name, record);
  }
  const found = await listingOf(state, list);
  same('records that contended writes added', found.length - before.records.length, added);
  for (const [name, possible] of ends) settle(reference, { name, possible, found });
  reference.forgetTimes();
}

interface Settled {
  readonly name: string;
  readonly possible: readonly (NewRecord | undefined)[];
  readonly found: Awaited<ReturnType<typeof listingOf>>;
}

/** Sets the reference to the state that was found, if one of the writes explains that state. */
function settle(reference: ReferenceList, { name, possible, found }: Settled): void {
  const isOwn = reference.model === 'own';
  const is = asListed(
    found.find((record) => record.name === name),
    isOwn,
  );
  const matching = possible.find((record) => {
    if (record === undefined) return is === undefined;
    reference.put(name, record.fields, record.vectors);
    return isDeepStrictEqual(is, asKnown(reference.find(name), isOwn));
  });
  if (is === undefined) {
    holdsTrue('record that no write left out', possible.includes(undefined), () => name);
    reference.delete(name);
  } else holdsTrue('record as no write left it', matching !== undefined, () => [name, is, possible]);
}

function recordsIn(call: ContendedCall): readonly NewRecord[] {
  if (call.kind === 'delete') return [];
  return call.kind === 'put' ? [call.record] : call.records;
}

interface Sent {
  readonly list: number;
  readonly call: ContendedCall;
  readonly ids: ReadonlyMap<string, string>;
}

function sendOne(state: ReplayState, { list, call, ids }: Sent): Promise<Answer> {
  const path = recordsOf(state, list);
  if (call.kind === 'put') return state.client.post(path, asSent(call.record));
  if (call.kind === 'bulk') return state.client.bulk('default', state.name(list), call.records.map(asSent));
  return state.client.delete(`${path}/${ids.get(call.name) ?? ''}`);
}
