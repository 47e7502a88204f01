/** What is made of rows goes into the queue in transactions of a bounded size, however much is made of each. */
import { expect, it } from 'vitest';
import { MOVED_AT_ONCE, OutboxRelay } from './outbox-relay.js';
import type { NumberedRow } from './row-outbox.js';
import { systemTimers } from './timers.js';

interface Row {
  readonly made: number;
  readonly bytes: number;
}

/** Moves all rows; returns how much each transaction took, and up to which row. */
async function moved(contents: readonly Row[]): Promise<{ readonly lastRow: number; readonly made: string[] }[]> {
  const rows: NumberedRow<Row>[] = contents.map((content, position) => ({ row: position + 1, content }));
  const transactions: { lastRow: number; made: string[] }[] = [];
  const relay = new OutboxRelay<{ id: string }, Row, string>({
    queue: {
      mark: () => 0,
      moveIn: (_source, lastRow, made) => {
        transactions.push({ lastRow, made: [...made] });
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
    movedFrom: (_source, { row, content }) => Array.from({ length: content.made }, (_, each) => `${row}/${each}`),
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

it('five hundred events for a thousand webhooks are fifty transactions and not one', async () => {
  const transactions = await moved(Array.from({ length: 500 }, () => ({ made: 1000, bytes: 100 })));
  expect(Math.max(...transactions.map(({ made }) => made.length))).toBe(MOVED_AT_ONCE);
  expect(transactions.map(({ lastRow }) => lastRow)).toEqual(Array.from({ length: 50 }, (_, each) => 10 * (each + 1)));
  const all = transactions.flatMap(({ made }) => made);
  expect([all.length, new Set(all).size, all.at(-1)]).toEqual([500_000, 500_000, '500/999']);
});

it('long events are fewer at a time, and one of them is whole', async () => {
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

it('a transaction ends before the row that would make it too large', async () => {
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

it('the rows of few webhooks are moved as they are read', async () => {
  const transactions = await moved(Array.from({ length: 1100 }, () => ({ made: 1, bytes: 100 })));
  expect(transactions.map(({ lastRow }) => lastRow)).toEqual([500, 1000, 1100]);
});
