import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMetrics } from '../../platform/metrics.js';
import type { IngestExecutor, IngestResult, IngestTask, ListIndex } from '../index.js';
import { WriteAdmission } from './write-admission.js';
import { LIST_SETTINGS, ListsInFolder } from '../../../test/support/lists-in-folder.js';

const DEFINITION = {
  searchable_fields: [{ name: 'title', weight: 1 }],
  facets: [],
  resources: [],
  location_field: null,
  inferred: 'no',
} as const;
const OVERLOADED = expect.objectContaining({ code: 'overloaded', retryAfterSeconds: 1 }) as unknown;

/** Reports a settable number of waiting tasks, and holds tasks back until it is opened. */
class BusyExecutor implements IngestExecutor {
  waiting = 0;
  /** The account whose tasks are waiting. */
  waitingOf = LIST_SETTINGS.account;
  private opened: Promise<void> = Promise.resolve();
  constructor(private readonly inner: IngestExecutor) {}

  waitingByAccount(): ReadonlyMap<string, number> {
    return new Map([[this.waitingOf, this.waiting]]);
  }

  hold(): () => void {
    let open: () => void = () => undefined;
    this.opened = new Promise((resolve) => (open = resolve));
    return open;
  }
  async run<T extends IngestTask>(task: T): Promise<IngestResult<T>> {
    await this.opened;
    return this.inner.run(task);
  }
}

let lists: ListsInFolder;
let executor: BusyExecutor;
let list: ListIndex;
const metrics = createMetrics();

beforeEach(async () => {
  const environment = {
    GANNET_INGEST_BATCH_RECORDS_MAX: '2',
    GANNET_INGEST_QUEUE_MAX: '3',
    GANNET_INGEST_WRITES_WAITING_MAX: '4',
  };
  lists = new ListsInFolder(environment, (inner) => (executor = new BusyExecutor(inner))).open({ metrics });
  list = await lists.indexes.create('id', LIST_SETTINGS, DEFINITION);
});
afterEach(() => lists.remove());

const put = (name: string) => list.write({ kind: 'put', name, fields: { title: name } });
const recordCount = () => list.versions()[0]?.record_count;

describe('writes while many ingest tasks are waiting', () => {
  it('are refused on arrival, and counted', async () => {
    executor.waiting = 3;
    await expect(put('a')).rejects.toThrow(OVERLOADED);
    await expect(list.deleteMatching(new Uint8Array(8))).rejects.toThrow(OVERLOADED);
    expect(() => list.startImport('ndjson')).toThrow(OVERLOADED);
    expect(await metrics.registry.getSingleMetricAsString('gannet_pool_tasks_refused_total')).toContain(
      '{pool="ingest"} 3',
    );
    executor.waiting = 2;
    expect(await put('a')).toMatchObject({ outcome: 'created' });
  });

  it('are accepted from an account with no waiting tasks, even if another account has filled the queue', async () => {
    executor.waiting = 1000;
    executor.waitingOf = 'another';
    expect(await put('a')).toMatchObject({ outcome: 'created' });
    await list.startImport('ndjson').end();
    executor.waitingOf = LIST_SETTINGS.account;
    await expect(put('b')).rejects.toThrow(OVERLOADED);
  });

  it('are finished once they were accepted, including every batch of an import', async () => {
    const session = list.startImport('ndjson');
    await session.push(Buffer.from('{"name":"0","title":"first"}\n{"name":"1","title":"first"}\n'));
    const open = executor.hold();
    const taken = ['a', 'b', 'c'].map(put);
    executor.waiting = 1000;
    open();
    expect((await Promise.all(taken)).map(({ outcome }) => outcome)).toEqual(['created', 'created', 'created']);
    for (let number = 2; number < 20; number += 1) {
      await session.push(Buffer.from(`${JSON.stringify({ name: String(number), title: 'later' })}\n`));
    }
    expect(await session.end()).toMatchObject({ created: 20, failed: 0, errors: [] });
    expect(recordCount()).toBe(23);
  });
});

describe('the writes that wait in one list', () => {
  it('are limited, deletions by filter included, and finished', async () => {
    const open = executor.hold();
    const first = put('first');
    // The first write has been taken out of the queue and is being committed.
    await new Promise((resolve) => setImmediate(resolve));
    const waiting = ['a', 'b', 'c'].map(put);
    const deletion = list.deleteMatching(() => {
      throw new Error('not a filter');
    });
    deletion.catch(() => undefined);
    await expect(put('d')).rejects.toThrow(OVERLOADED);
    await expect(list.deleteMatching(new Uint8Array(8))).rejects.toThrow(OVERLOADED);
    open();
    await Promise.all([first, ...waiting]);
    await expect(deletion).rejects.toThrow('not a filter');
    expect(await put('d')).toMatchObject({ outcome: 'created' });
    expect(recordCount()).toBe(5);
  });

  it('include imports, and a new one is accepted when another has ended', async () => {
    const sessions = Array.from({ length: 8 }, () => list.startImport('ndjson'));
    expect(() => list.startImport('ndjson')).toThrow(OVERLOADED);
    await sessions[0]?.end();
    const another = list.startImport('ndjson');
    await Promise.all([...sessions.slice(1), another].map((session) => session.end()));
  });
});

it('WriteAdmission gives each account at most an equal share of a full queue', () => {
  const counts = new Map<string, number>();
  const admission = new WriteAdmission({
    tasksWaitingMax: 12,
    tasks: {
      get waiting() {
        return [...counts.values()].reduce((sum, count) => sum + count, 0);
      },
      waitingByAccount: () => counts,
    },
    writesWaitingMax: 1000,
    waitingBytesMax: 1000,
    onTooManyTasks: () => undefined,
  });
  const admitted = (account: string) => {
    const list = admission.forList(account);
    for (let taken = 0; ; taken += 1) {
      try {
        list.admitWrite(0);
      } catch {
        return taken;
      }
      counts.set(account, taken + 1);
    }
  };
  const accounts = Array.from({ length: 14 }, (_, number) => String(number));
  expect(accounts.map(admitted)).toEqual([12, 6, 4, 3, 2, 2, 1, 1, 1, 1, 1, 1, 0, 0]);
});

it('WriteAdmission counts the waiting bytes of each list separately', () => {
  const admission = new WriteAdmission({
    tasksWaitingMax: 1,
    tasks: { waiting: 0, waitingByAccount: () => new Map() },
    writesWaitingMax: 10,
    waitingBytesMax: 100,
    onTooManyTasks: () => undefined,
  });
  const [one, other] = [admission.forList('a'), admission.forList('a')];
  one.admitWrite(60);
  expect(() => {
    one.admitWrite(60);
  }).toThrow(OVERLOADED);
  other.admitWrite(60);
  one.writesTaken(1, 60);
  one.admitWrite(60);
});

it('WriteAdmission expects more writes for ten seconds after a small write', () => {
  let nowMs = 0;
  const admission = new WriteAdmission({
    tasksWaitingMax: 1,
    tasks: { waiting: 0, waitingByAccount: () => new Map() },
    writesWaitingMax: 1,
    waitingBytesMax: 100,
    onTooManyTasks: () => undefined,
    nowMs: () => nowMs,
  }).forList('a');
  expect(admission.expectsWrites).toBe(false);
  admission.admitImport();
  expect(admission.expectsWrites).toBe(false);
  admission.admitWrite(10);
  nowMs = 9999;
  // A client whose write is refused sends it again.
  expect(() => {
    admission.admitWrite(10);
  }).toThrow(OVERLOADED);
  nowMs = 19_998;
  expect(admission.expectsWrites).toBe(true);
  nowMs = 19_999;
  expect(admission.expectsWrites).toBe(false);
});
