import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVERY_ROW, joinedEventSinks, type EventSink, type OutboxSource } from './event-sink.js';

const SOURCE: OutboxSource = { id: 'one', kind: 'list', path: '/one' };

/** A sink that reads the rows of the types that it wants when the test lets it. */
class Reader implements EventSink {
  told = 0;
  moved = 0;
  readonly read: number[] = [];
  isDrained = false;
  sinceMs = 0;

  constructor(readonly types: readonly string[]) {}

  wanted(): readonly string[] {
    return this.types;
  }
  eventTime(_account: string, nowMs: number): number {
    return Math.max(nowMs, this.sinceMs);
  }
  written(): void {
    this.told += 1;
  }
  movedTo(): number {
    return this.types.length === 0 ? EVERY_ROW : this.moved;
  }
  removableTo(): number {
    return this.movedTo();
  }
  drained(): Promise<void> {
    this.isDrained = true;
    return Promise.resolve();
  }
}

describe('joinedEventSinks', () => {
  const types = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'));
  const steps = fc.array(
    fc.oneof(
      fc.record({ write: fc.constantFrom('a', 'b', 'c', 'd') }),
      fc.record({ reader: fc.nat(3), rowsMax: fc.integer({ min: 1, max: 3 }) }),
    ),
  );

  it('lets each sink read every row that it wants, whatever the others read and remove', () => {
    fc.assert(
      fc.property(fc.array(types, { maxLength: 4 }), steps, (wanted, done) => {
        const readers = wanted.map((each) => new Reader(each));
        const sink = joinedEventSinks(readers);
        const written: (readonly [row: number, type: string])[] = [];
        let outbox: typeof written = [];
        for (const step of done) {
          if ('write' in step) {
            if (!sink.wanted('account').includes(step.write)) continue;
            const row = [written.length + 1, step.write] as const;
            written.push(row);
            outbox = [...outbox.filter(([each]) => each > sink.removableTo(SOURCE.id)), row];
            sink.written(SOURCE, 1);
            continue;
          }
          const reader = readers[step.reader];
          if (reader === undefined) continue;
          for (const [row, type] of outbox.filter(([each]) => each > reader.moved).slice(0, step.rowsMax)) {
            reader.moved = row;
            if (reader.types.includes(type)) reader.read.push(row);
          }
        }
        for (const reader of readers) {
          const missed = written.filter(([row, type]) => row <= reader.moved && reader.types.includes(type));
          expect(reader.read).toEqual(missed.map(([row]) => row));
          expect(reader.told).toBe(written.length);
          const unread = written.filter(([row, type]) => row > reader.moved && reader.types.includes(type));
          expect(outbox).toEqual(expect.arrayContaining(unread));
        }
      }),
    );
  });

  it('drains all sinks, even those that were added later', async () => {
    const readers: Reader[] = [];
    const sink = joinedEventSinks(readers);
    expect([sink.wanted('account'), sink.movedTo(SOURCE.id), sink.removableTo(SOURCE.id)]).toEqual([[], 0, 0]);
    readers.push(new Reader(['a']), new Reader(['b', 'a']));
    expect(sink.wanted('account')).toEqual(['a', 'b']);
    expect(sink.eventTime('account', 3)).toBe(3);
    (readers[1] as Reader).sinceMs = 5;
    expect(sink.eventTime('account', 3)).toBe(5);
    await sink.drained(SOURCE);
    expect(readers.map(({ isDrained }) => isDrained)).toEqual([true, true]);
  });
});
