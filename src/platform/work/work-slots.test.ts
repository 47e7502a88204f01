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
