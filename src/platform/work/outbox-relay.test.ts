/** Work made of outbox rows goes into the queue in transactions of a bounded size, however much each row yields. */
import { expect, it } from 'vitest';
import { DamagedFileError, isDamage } from '../damaged-storage.js';
import { MOVED_AT_ONCE, OutboxRelay, UnreadSourceError } from './outbox-relay.js';
import type { NumberedRow } from './row-outbox.js';
import { systemTimers } from './timers.js';

interface Row {
  readonly made: number;
  readonly bytes: number;
}

/** Moves all rows; returns what each transaction took, and the last row of each. */
async function moved(
  contents: readonly Row[],
  movedFrom = ({ row, content }: NumberedRow<Row>) =>
    Array.from({ length: content.made }, (_, each) => `${row}/${each}`),
  onMoveIn: (lastRow: number) => void = () => undefined,
): Promise<{ readonly lastRow: number; readonly made: string[] }[]> {
  const rows: NumberedRow<Row>[] = contents.map((content, position) => ({ row: position + 1, content }));
  const transactions: { lastRow: number; made: string[] }[] = [];
  const relay = new OutboxRelay<{ id: string }, Row, string>({
    queue: {
      mark: () => 0,
      moveIn: (_source, lastRow, made) => {
        transactions.push({ lastRow, made: [...made] });
        onMoveIn(lastRow);
        return Promise.resolve();
      },
      dropMark: () => Promise.resolve(),
    },
    sources: {
      open: () => ({ read: (after, { rowsMax }) => rows.slice(after, after + rowsMax) }),
      release: () => undefined,
      close: () => Promise.resolve(),
    },
    timers: systemTimers,
    movedFrom: (_source, row) => movedFrom(row),
    bytesOf: ({ bytes }) => bytes,
    onMoved: () => undefined,
    onFailure: (_source, error) => {
      throw error;
    },
  });
  await relay.drain({ id: 'source' });
  await relay.close();
  return transactions;
}

it('OutboxRelay moves five hundred events for a thousand webhooks in fifty transactions', async () => {
  const transactions = await moved(Array.from({ length: 500 }, () => ({ made: 1000, bytes: 100 })));
  expect(Math.max(...transactions.map(({ made }) => made.length))).toBe(MOVED_AT_ONCE);
  expect(transactions.map(({ lastRow }) => lastRow)).toEqual(Array.from({ length: 50 }, (_, each) => 10 * (each + 1)));
  const all = transactions.flatMap(({ made }) => made);
  expect([all.length, new Set(all).size, all.at(-1)]).toEqual([500_000, 500_000, '500/999']);
});

it('OutboxRelay moves fewer events at a time if they are long, and never splits one', async () => {
  const transactions = await moved([
    { made: 100, bytes: 100_000 },
    { made: 100, bytes: 100_000 },
    { made: 1000, bytes: 100_000 },
    { made: 0, bytes: 100_000 },
    { made: 1, bytes: 1 },
  ]);
  expect(transactions.map(({ lastRow, made }) => [lastRow, made.length])).toEqual([
    [1, 100],
    [2, 100],
    [4, 1000],
    [5, 1],
  ]);
});

it('OutboxRelay ends a transaction before the row that would make it too large', async () => {
  const transactions = await moved([
    { made: 6000, bytes: 10 },
    { made: 3999, bytes: 10 },
    { made: 7000, bytes: 10 },
    { made: 3001, bytes: 10 },
    { made: 12_000, bytes: 10 },
    { made: 1, bytes: 10 },
  ]);
  expect(transactions.map(({ lastRow, made }) => [lastRow, made.length])).toEqual([
    [2, 9999],
    [3, 7000],
    [4, 3001],
    [5, 12_000],
    [6, 1],
  ]);
});

it('OutboxRelay moves the rows of few webhooks as they are read', async () => {
  const transactions = await moved(Array.from({ length: 1100 }, () => ({ made: 1, bytes: 100 })));
  expect(transactions.map(({ lastRow }) => lastRow)).toEqual([500, 1000, 1100]);
});

it('OutboxRelay decides what a row becomes when it moves the row, not while earlier rows are moved', async () => {
  let receivers = ['leaves', 'stays'];
  const transactions = await moved(
    Array.from({ length: 3 }, () => ({ made: MOVED_AT_ONCE, bytes: 10 })),
    ({ row, content }) =>
      receivers.flatMap((receiver) => Array.from({ length: content.made / 2 }, () => `${row} for ${receiver}`)),
    (lastRow) => {
      if (lastRow === 2) receivers = ['stays'];
    },
  );
  expect(transactions.map(({ lastRow, made }) => [lastRow, made.length, new Set(made)])).toEqual([
    [1, MOVED_AT_ONCE, new Set(['1 for leaves', '1 for stays'])],
    [2, MOVED_AT_ONCE, new Set(['2 for leaves', '2 for stays'])],
    [3, MOVED_AT_ONCE / 2, new Set(['3 for stays'])],
  ]);
});

it('OutboxRelay does not report damage of the queue if an outbox is damaged', async () => {
  const failure = await new Promise<unknown>((failed) => {
    const relay = new OutboxRelay<{ id: string }, Row, string>({
      queue: { mark: () => 0, moveIn: () => Promise.resolve(), dropMark: () => Promise.resolve() },
      sources: {
        open: () => {
          throw new DamagedFileError('lists/one/store/data.mdb', 'a page is not as it was written');
        },
        release: () => undefined,
        close: () => Promise.resolve(),
      },
      timers: { ...systemTimers, after: () => () => undefined },
      movedFrom: () => [],
      bytesOf: () => 0,
      onMoved: () => undefined,
      onFailure: (_source, error) => failed(error),
    });
    relay.wake({ id: 'one' });
  });
  expect(failure).toBeInstanceOf(UnreadSourceError);
  expect(String(failure)).toContain('lists/one/store/data.mdb is damaged');
  // Otherwise the queue would be moved aside with everything that is to be delivered.
  expect(isDamage(failure)).toBe(false);
});

it('OutboxRelay retries a failing source after growing waits, whatever is written to it in the meantime', async () => {
  const waits: number[] = [];
  const counts: number[] = [];
  let due: (() => void) | undefined;
  let isBroken = true;
  const moved: number[] = [];
  const relay = new OutboxRelay<{ id: string }, Row, string>({
    queue: {
      mark: () => 0,
      moveIn: (_source, lastRow) => Promise.resolve(void moved.push(lastRow)),
      dropMark: () => Promise.resolve(),
    },
    sources: {
      open: () => {
        if (isBroken) throw new Error('EIO');
        return { read: (after) => (after === 0 ? [{ row: 1, content: { made: 1, bytes: 1 } }] : []) };
      },
      release: () => undefined,
      close: () => Promise.resolve(),
    },
    timers: {
      ...systemTimers,
      after: (ms, action) => {
        waits.push(ms);
        due = action;
        return () => undefined;
      },
    },
    movedFrom: () => ['one'],
    bytesOf: () => 1,
    onMoved: () => undefined,
    onFailure: (_source, _error, count) => void counts.push(count),
  });
  const source = { id: 'one' };
  for (let tries = 0; tries < 8; ++tries) {
    relay.wake(source);
    await new Promise(setImmediate);
    // As after each commit of a busy list.
    for (let commit = 0; commit < 50; ++commit) relay.wake(source);
    await new Promise(setImmediate);
    due?.();
  }
  expect(waits.slice(0, 8)).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  expect(counts.slice(0, 8)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  isBroken = false;
  await new Promise(setImmediate);
  due?.();
  await new Promise(setImmediate);
  expect(moved).toEqual([1]);
  await relay.close();
});
