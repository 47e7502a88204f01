/**
 * What a list writes into its outbox: events are in the same transaction as the commit, and there are none without a
 * subscriber.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../test/support/eventually.js';
import {
  ServiceError,
  type EventSink,
  type EventType,
  type OutboxEvent,
  type OutboxSource,
} from '../../platform/index.js';
import { RecordStore } from '../../records/index.js';
import type { IngestExecutor, ListIndex } from '../index.js';
import { pageOf } from '../../../test/support/list-reading.js';
import { LIST_SETTINGS, ListsInFolder } from '../../../test/support/lists-in-folder.js';

const definition = {
  searchable_fields: [{ name: 'title', weight: 1 }],
  facets: [],
  resources: [],
  location_field: null,
  inferred: 'no',
} as const;
const RECORDS: EventType[] = ['searchresult.created', 'searchresult.updated', 'searchresult.deleted'];
const BULK: EventType[] = ['searchresult.bulk-created'];

class TestSink implements EventSink {
  types: readonly EventType[] = [];
  moved = 0;
  sinceMs = 0;
  readonly writtenBy: string[] = [];
  readonly drainedSources: OutboxSource[] = [];

  wanted(account: string): readonly EventType[] {
    return account === LIST_SETTINGS.account ? this.types : [];
  }
  eventTime(_account: string, nowMs: number): number {
    return Math.max(nowMs, this.sinceMs);
  }
  written({ id }: OutboxSource): void {
    this.writtenBy.push(id);
  }
  movedTo(): number {
    return this.moved;
  }
  removableTo(): number {
    return this.moved;
  }
  drained(source: OutboxSource): Promise<void> {
    this.drainedSources.push(source);
    return Promise.resolve();
  }
}

let lists: ListsInFolder;
let sink: TestSink;
let failNext: string | undefined;
let list: ListIndex;

const failing = (inner: IngestExecutor): IngestExecutor => ({
  waiting: 0,
  waitingByAccount: () => new Map(),
  run(task) {
    if (failNext !== task.kind) return inner.run(task);
    failNext = undefined;
    return Promise.reject(new ServiceError('internal-error', 'The worker died.'));
  },
});

beforeEach(async () => {
  sink = new TestSink();
  failNext = undefined;
  // Batches have two records, so an import is several commits.
  lists = new ListsInFolder({ GANNET_INGEST_BATCH_RECORDS_MAX: '2' }, failing).open({ events: sink });
  list = await lists.indexes.create('id', LIST_SETTINGS, definition);
});
afterEach(() => lists.remove());

/** Returns the rows as another thread reads them. */
function rows(): { row: number; event: OutboxEvent }[] {
  const store = new RecordStore(lists.path('id'));
  const read =
    store.state()?.events === undefined ? [] : store.outbox.read(0).map(({ row, content: event }) => ({ row, event }));
  void store.close();
  return read;
}

function told(): [type: string, data: unknown][] {
  return rows().map(({ event }) => [event.type, (JSON.parse(event.body) as { data: unknown }).data]);
}

const put = (name: string) => list.write({ kind: 'put', name, fields: { title: name } });
const line = (name: string) => Buffer.from(`${JSON.stringify({ name, title: name })}\n`);

describe('events of records', () => {
  it('are not written if there is no subscriber', async () => {
    await put('a');
    const session = list.startImport('ndjson');
    await session.push(line('b'));
    await session.end();
    expect(rows()).toEqual([]);
    expect(sink.writtenBy).toEqual([]);
  });

  it('are dated no earlier than the subscription, even if the clock was set back since', async () => {
    sink.types = [...RECORDS, ...BULK];
    await put('a');
    sink.sinceMs = Date.now() + 86_400_000;
    await put('b');
    const session = list.startImport('ndjson');
    await session.push(line('c'));
    await session.end();
    const [before, ...after] = rows().map(({ event }) => event.atMs);
    expect(before).toBeLessThan(sink.sinceMs);
    expect(after).toEqual([sink.sinceMs, sink.sinceMs]);
  });

  it('are in the order of the writes, within a commit as well, and leave out refused writes', async () => {
    sink.types = RECORDS;
    const answers = await Promise.allSettled([put('a'), put('a'), list.write({ kind: 'delete', id: 'x' }), put('b')]);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(told()).toEqual([
      ['searchresult.created', { name: 'a', fields: { title: 'a' } }],
      ['searchresult.updated', { name: 'a', fields: { title: 'a' } }],
      ['searchresult.created', { name: 'b', fields: { title: 'b' } }],
    ]);
    const [first, second] = rows();
    expect(first?.event.subject).toBe(second?.event.subject);
    expect(new Set(sink.writtenBy)).toEqual(new Set(['id']));
  });

  it('are not written if the commit fails', async () => {
    sink.types = RECORDS;
    failNext = 'write-batch';
    await expect(put('a')).rejects.toThrow();
    expect(rows()).toEqual([]);
    await put('b');
    expect(told()).toHaveLength(1);
  });

  it('are removed by a later commit after they were moved, and their numbers are not used again', async () => {
    sink.types = RECORDS;
    for (const name of ['a', 'b', 'c']) await put(name);
    sink.moved = 2;
    await put('d');
    expect(rows().map(({ row }) => row)).toEqual([3, 4]);
    sink.moved = 4;
    sink.types = [];
    await put('e');
    expect(rows()).toEqual([]);
    sink.types = RECORDS;
    await put('f');
    expect(rows().map(({ row }) => row)).toEqual([5]);
  });
});

describe('the event of a bulk call', () => {
  async function import_(names: readonly string[]): Promise<void> {
    const session = list.startImport('ndjson');
    for (const name of names) await session.push(line(name));
    await session.end();
  }

  it.each([1, 2, 3, 4, 5])('of %i records in batches of two is written once', async (count) => {
    sink.types = [...RECORDS, ...BULK];
    await import_(Array.from({ length: count }, (_, n) => `r${n}`));
    expect(told()).toEqual([['searchresult.bulk-created', { count, created: count, updated: 0 }]]);
  });

  it('that writes nothing is not written', async () => {
    sink.types = BULK;
    const session = list.startImport('ndjson');
    await session.push(Buffer.from('{"name": 1}\nnonsense\n{"name": 2}\n'));
    await session.end();
    expect(rows()).toEqual([]);
  });

  it('that is aborted has the number of records written', async () => {
    sink.types = BULK;
    const session = list.startImport('ndjson');
    for (const name of ['a', 'b', 'c', 'd', 'e']) await session.push(line(name));
    session.abort();
    await eventually(
      () => Promise.resolve(told()),
      (events) => events.length === 1,
    );
    const { total } = await pageOf(list, 0, 0);
    expect(told()).toEqual([['searchresult.bulk-created', { count: total, created: total, updated: 0 }]]);
  });

  it('whose last commit fails has the number of records written', async () => {
    sink.types = BULK;
    const session = list.startImport('ndjson');
    await session.push(line('a'));
    await session.push(line('b'));
    await session.push(line('c'));
    await eventually(
      () => pageOf(list, 0, 0),
      ({ total }) => total === 2,
    );
    failNext = 'bulk-batch';
    await expect(session.end()).rejects.toThrow();
    expect(told()).toEqual([['searchresult.bulk-created', { count: 2, created: 2, updated: 0 }]]);
  });

  it('that a crash interrupts is written when the list is opened again', async () => {
    sink.types = BULK;
    const session = list.startImport('ndjson');
    await session.push(line('a'));
    await session.push(line('b'));
    await eventually(
      () => pageOf(list, 0, 0),
      ({ total }) => total === 2,
    );
    // The process has ended, so nobody ends the session.
    await lists.close();
    expect(rows()).toEqual([]);
    lists.open({ events: sink });
    list = await lists.indexes.open('id', LIST_SETTINGS);
    await eventually(
      () => Promise.resolve(told()),
      (events) => events.length === 1,
    );
    expect(told()).toEqual([['searchresult.bulk-created', { count: 2, created: 2, updated: 0 }]]);
  });
});

describe('a list', () => {
  it('writes events of fields with the change, and an event when the version is current', async () => {
    sink.types = ['facet.created', 'searchable-field.renamed', 'list.updated'];
    const next = {
      ...definition,
      searchable_fields: [{ name: 'heading', weight: 1 }],
      facets: [{ name: 'year', type: 'number', cardinality: 'Single' }],
    } as const;
    await list.changeDefinition(next, { title: 'heading' });
    await eventually(
      () => Promise.resolve(list.currentVersion),
      (version) => version === 2,
    );
    expect(told()).toMatchObject([
      ['facet.created', { name: 'year', type: 'number', cardinality: 'Single' }],
      ['searchable-field.renamed', { name: 'heading', weight: 1, previous_name: 'title' }],
      ['list.updated', { kind: 'list', changed: ['current_version'], current_version: 2 }],
    ]);
  });

  it('writes events of inferred fields', async () => {
    sink.types = ['searchable-field.created', 'facet.created'];
    const pending = { ...definition, searchable_fields: [], inferred: 'pending' } as const;
    list = await lists.indexes.create('other', { ...LIST_SETTINGS, list: 'other' }, pending);
    await list.write({ kind: 'put', name: 'a', fields: { title: 'A', year: 1999 } });
    const store = new RecordStore(lists.path('other'));
    const events = store.outbox.read(0).map(({ content }) => content);
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['facet.created', 'searchable-field.created']),
    );
    expect(events.every(({ body }) => body.includes('"list":"other"'))).toBe(true);
    await store.close();
  });

  it('hands its outbox over before its folder is deleted', async () => {
    sink.types = RECORDS;
    await put('a');
    await lists.indexes.remove('id');
    expect(sink.drainedSources).toEqual([{ id: 'id', kind: 'list', path: lists.path('id') }]);
  });
});
