import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecordTurns, type Turn } from './record-turns.js';

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('RecordTurns', () => {
  it('never exceeds the limit, gives out all that is left, and lets every commit have its turn', async () => {
    const commit = fc.record({ wanted: fc.nat(12), added: fc.nat(12) });
    await fc.assert(
      fc.asyncProperty(
        fc.nat(30),
        fc.array(commit, { maxLength: 20 }),
        fc.infiniteStream(fc.nat()),
        async (limit, commits, random) => {
          const turns = new RecordTurns();
          let used = 0;
          const out: { turn: Turn; added: number }[] = [];
          let done = 0;
          let refused = 0;
          for (const { wanted, added } of commits) {
            void turns
              .take('one', wanted, () => limit - used)
              .then((turn) => {
                expect(turn.records).toBeLessThanOrEqual(wanted);
                if (turn.records < wanted) {
                  // A commit gets less than it wants only if no other commit holds any records.
                  expect(out).toEqual([]);
                  expect(turn.records).toBe(limit - used);
                  refused += 1;
                }
                out.push({ turn, added: Math.min(added, turn.records) });
              });
          }
          while (done < commits.length) {
            await settled();
            const [ending] = out.splice((random.next().value as number) % out.length, 1);
            if (ending === undefined) throw new Error('nobody has a turn, and some wait for one');
            used += ending.added;
            done += 1;
            ending.turn.end();
          }
          expect(used).toBeLessThanOrEqual(limit);
          expect(refused).toBeLessThanOrEqual(commits.length);
        },
      ),
    );
  });

  it('lets commits of different accounts run concurrently', async () => {
    const turns = new RecordTurns();
    const first = await turns.take('one', 5, () => 5);
    const second = await turns.take('two', 5, () => 5);
    expect([first.records, second.records]).toEqual([5, 5]);
  });

  it('continues after a count that could not be read', async () => {
    const turns = new RecordTurns();
    const broken = turns.take('one', 1, () => {
      throw new Error('no count');
    });
    await expect(broken).rejects.toThrow('no count');
    expect((await turns.take('one', 1, () => 1)).records).toBe(1);
  });
});
