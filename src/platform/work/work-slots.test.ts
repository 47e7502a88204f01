import fc from 'fast-check';
import { expect, it } from 'vitest';
import { WorkSlots } from './work-slots.js';

/** Lanes that have so much to do, each at its receiver: they take a slot for each piece, as soon as there is one. */
class Lanes {
  calls = 0;
  underWay: string[] = [];
  done = 0;
  readonly slots: WorkSlots;

  constructor(perReceiverMax: number, totalMax: number) {
    this.slots = new WorkSlots(perReceiverMax, totalMax);
  }

  begin(receiver: string, pieces: number): void {
    let left = pieces;
    const wake = (): void => {
      this.calls += 1;
      while (left > 0 && this.slots.take(receiver, wake)) {
        left -= 1;
        this.underWay.push(receiver);
      }
    };
    wake();
  }

  end(position: number): void {
    const [receiver = ''] = this.underWay.splice(position, 1);
    this.done += 1;
    this.slots.release(receiver);
  }
}

it.each([
  ['one receiver', (): string => 'a', 16, 512],
  ['a receiver each', (lane: number): string => `receiver-${lane}`, 16, 16],
])('a slot that comes free calls one of a thousand lanes that wait for %s', (_what, receiverOf, each, all) => {
  const lanes = new Lanes(each, all);
  for (let lane = 0; lane < 1000; lane += 1) lanes.begin(receiverOf(lane), 2);
  lanes.calls = 0;
  while (lanes.underWay.length > 0) lanes.end(0);
  expect(lanes.done).toBe(2000);
  // Once for a slot, and once more where it found that there was none for its second piece.
  expect(lanes.calls).toBeLessThanOrEqual(2000);
});

it('forgets nobody, keeps its bounds, and lets no slot rest while anybody could use it', () => {
  const lane = fc.record({ receiver: fc.constantFrom('a', 'b', 'c', 'd'), pieces: fc.integer({ min: 1, max: 4 }) });
  fc.assert(
    fc.property(
      fc.array(lane, { maxLength: 30 }),
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 5 }),
      fc.infiniteStream(fc.nat(100)),
      (wanted, perReceiver, total, chosen) => {
        const lanes = new Lanes(perReceiver, total);
        for (const { receiver, pieces } of wanted) lanes.begin(receiver, pieces);
        const left = new Map<string, number>();
        for (const { receiver, pieces } of wanted) left.set(receiver, (left.get(receiver) ?? 0) + pieces);
        while (lanes.underWay.length > 0) {
          const busy = (receiver: string) => lanes.underWay.filter((each) => each === receiver).length;
          const could = [...left].map(([receiver, pieces]) => Math.min(pieces, perReceiver) - busy(receiver));
          expect(Math.max(...could.map((each) => -each))).toBeLessThanOrEqual(0);
          if (lanes.underWay.length < total) expect(Math.max(...could)).toBe(0);
          expect(lanes.underWay.length).toBeLessThanOrEqual(total);
          const position = (chosen.next().value ?? 0) % lanes.underWay.length;
          const receiver = lanes.underWay[position] ?? '';
          left.set(receiver, (left.get(receiver) ?? 0) - 1);
          lanes.end(position);
        }
        expect(lanes.done).toBe(wanted.reduce((sum, { pieces }) => sum + pieces, 0));
      },
    ),
  );
});

it('a lane that has nothing to do any more leaves its slot to the next of its receiver', () => {
  const slots = new WorkSlots(1, 10);
  slots.take('a', undefined);
  const called: string[] = [];
  slots.take('a', () => called.push('has nothing to do'));
  slots.take('a', () => {
    called.push('takes it');
    slots.take('a', undefined);
  });
  slots.take('a', () => called.push('waits on'));
  slots.release('a');
  expect(called).toEqual(['has nothing to do', 'takes it']);
  slots.release('a');
  expect(called).toEqual(['has nothing to do', 'takes it', 'waits on']);
});

it('forgets nobody where lanes go over to another receiver, or drop out, while they wait', () => {
  const receivers = ['a', 'b', 'c', 'd', 'e'];
  const step = fc.record({
    what: fc.constantFrom('end', 'end', 'wake', 'wake', 'wake', 'drop'),
    lane: fc.nat(7),
    receiver: fc.constantFrom(...receivers),
    pieces: fc.nat(2),
    position: fc.nat(10),
  });
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 60, size: 'max' }),
      fc.integer({ min: 1, max: 2 }),
      fc.integer({ min: 1, max: 3 }),
      (steps, each, all) => {
        const slots = new WorkSlots(each, all);
        const underWay: string[] = [];
        const lanes = Array.from({ length: 8 }, () => {
          const lane = { receiver: 'a', left: 0, wake };
          function wake(): void {
            while (lane.left > 0 && slots.take(lane.receiver, wake)) {
              lane.left -= 1;
              underWay.push(lane.receiver);
            }
          }
          return lane;
        });
        const end = (position: number): void => {
          const [receiver] = underWay.splice(position % Math.max(underWay.length, 1), 1);
          if (receiver !== undefined) slots.release(receiver);
        };
        const assertNoneRests = (): void => {
          if (underWay.length >= all) return;
          const full = receivers.filter((receiver) => underWay.filter((one) => one === receiver).length >= each);
          expect(lanes.filter(({ left, receiver }) => left > 0 && !full.includes(receiver))).toEqual([]);
        };
        for (const { what, lane: number, receiver, pieces, position } of steps) {
          const lane = lanes[number];
          if (what === 'end' || lane === undefined) end(position);
          else if (what === 'drop') lane.left = 0;
          else {
            lane.receiver = receiver;
            lane.left += pieces;
            lane.wake();
          }
          assertNoneRests();
        }
        while (underWay.length > 0) {
          end(0);
          assertNoneRests();
        }
        expect(lanes.every(({ left }) => left === 0)).toBe(true);
      },
    ),
    { numRuns: 2000 },
  );
});
