import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WorkSlots } from './work-slots.js';

const at = (receiver: string, owner = '') => ({ owner, receiver });

/** Lanes with a number of pieces of work each; they take a slot for each piece as soon as there is one. */
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
      while (left > 0 && this.slots.take(at(receiver), wake)) {
        left -= 1;
        this.underWay.push(receiver);
      }
    };
    wake();
  }

  end(position: number): void {
    const [receiver = ''] = this.underWay.splice(position, 1);
    this.done += 1;
    this.slots.release(at(receiver));
  }
}

it.each([
  ['one receiver', (): string => 'a', 16, 512],
  ['a receiver each', (lane: number): string => `receiver-${lane}`, 16, 16],
])('A freed slot calls one of a thousand lanes that wait for %s', (_what, receiverOf, each, all) => {
  const lanes = new Lanes(each, all);
  for (let lane = 0; lane < 1000; lane += 1) lanes.begin(receiverOf(lane), 2);
  lanes.calls = 0;
  while (lanes.underWay.length > 0) lanes.end(0);
  expect(lanes.done).toBe(2000);
  // Once for each slot, and once more if the lane found no slot for its second piece.
  expect(lanes.calls).toBeLessThanOrEqual(2000);
});

it('WorkSlots forgets no lane, keeps its limits, and leaves no slot unused while a lane could use it', () => {
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

it('A lane without work leaves its slot to the next lane of its receiver', () => {
  const slots = new WorkSlots(1, 10);
  slots.take(at('a'), undefined);
  const called: string[] = [];
  slots.take(at('a'), () => called.push('has nothing to do'));
  slots.take(at('a'), () => {
    called.push('takes it');
    slots.take(at('a'), undefined);
  });
  slots.take(at('a'), () => called.push('waits on'));
  slots.release(at('a'));
  expect(called).toEqual(['has nothing to do', 'takes it']);
  slots.release(at('a'));
  expect(called).toEqual(['has nothing to do', 'takes it', 'waits on']);
});

it('WorkSlots forgets no lane that changes its receiver or drops out while it waits', () => {
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
            while (lane.left > 0 && slots.take(at(lane.receiver), wake)) {
              lane.left -= 1;
              underWay.push(lane.receiver);
            }
          }
          return lane;
        });
        const end = (position: number): void => {
          const [receiver] = underWay.splice(position % Math.max(underWay.length, 1), 1);
          if (receiver !== undefined) slots.release(at(receiver));
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

describe('owners', () => {
  /** Takes as many slots as it gets, at receivers of its own that never answer; returns the number. */
  const takeAll = (slots: WorkSlots, owner: string): number => {
    let count = 0;
    while (slots.take(at(`${owner}${count}`, owner), undefined)) count += 1;
    return count;
  };

  it('leave as many slots to the others as one of them has, at least one to each, and a sole owner gets all', () => {
    const slots = new WorkSlots(16, 512);
    slots.expect(at('a0', 'a'));
    slots.expect(at('a1', 'a'));
    slots.expect(at('b0', 'b'));
    for (let number = 0; number < 50; number += 1) slots.expect(at('hooks', `other ${number} `));
    expect([takeAll(slots, 'a'), takeAll(slots, 'b')]).toEqual([231, 116]);
    const others = Array.from({ length: 50 }, (_, number) => takeAll(slots, `other ${number} `));
    expect(Math.min(...others)).toBeGreaterThan(0);
    const alone = new WorkSlots(16, 512);
    alone.expect(at('a0', 'a'));
    expect(takeAll(alone, 'a')).toBe(512);
  });

  it('share the slots of one receiver, too', () => {
    const slots = new WorkSlots(16, 512);
    for (const owner of ['a', 'b']) slots.expect(at('hooks', owner));
    const ofA = Array.from({ length: 20 }, () => slots.take(at('hooks', 'a'), undefined)).filter(Boolean).length;
    expect([ofA, slots.take(at('hooks', 'b'), undefined)]).toEqual([8, true]);
  });

  it('take turns: one with ten waiting lanes is served soon, although another has a thousand', () => {
    const slots = new WorkSlots(16, 4);
    for (const owner of ['a', 'b']) slots.expect(at('expected', owner));
    const called: string[] = [];
    const seek = (owner: string, receiver: string) => {
      const place = at(receiver, owner);
      if (slots.take(place, () => seek(owner, receiver))) called.push(owner);
    };
    for (let number = 0; number < 1000; number += 1) seek('a', `a${number}`);
    for (let number = 0; number < 10; number += 1) seek('b', 'b');
    expect(called).toEqual(['a', 'a', 'b']);
    for (let turn = 0; turn < 10; turn += 1) slots.release(at(`a${turn}`, 'a'));
    expect(called.slice(3).filter((owner) => owner === 'b').length).toBeGreaterThan(0);
  });

  it('lose no lane, and leave no slot unused that one of them may have', () => {
    const owners = ['a', 'b', 'c'];
    const receivers = ['x', 'y', 'z'];
    const step = fc.record({
      what: fc.constantFrom('end', 'wake', 'wake', 'drop'),
      lane: fc.nat(11),
      receiver: fc.constantFrom(...receivers),
      pieces: fc.nat(3),
      position: fc.nat(20),
    });
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 60, size: 'max' }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 9 }),
        (steps, each, all) => {
          const slots = new WorkSlots(each, all);
          const underWay: { owner: string; receiver: string }[] = [];
          const lanes = Array.from({ length: 12 }, (_, number) => {
            const lane = { place: at('x', owners[number % 3]), left: 0, wake };
            slots.expect(lane.place);
            function wake(): void {
              while (lane.left > 0 && slots.take(lane.place, wake)) {
                lane.left -= 1;
                underWay.push(lane.place);
              }
            }
            return lane;
          });
          const end = (position: number): void => {
            const [place] = underWay.splice(position % Math.max(underWay.length, 1), 1);
            if (place !== undefined) slots.release(place);
          };
          const mayHave = ({ owner, receiver }: { owner: string; receiver: string }): boolean => {
            const there = underWay.filter((one) => one.receiver === receiver);
            const expectedThere = new Set(
              lanes
                .map(({ place }) => place)
                .filter((one) => one.receiver === receiver)
                .map((one) => one.owner),
            );
            const free = (max: number, taken: typeof underWay, expected: ReadonlySet<string>) => {
              const own = taken.filter((one) => one.owner === owner).length;
              const withNothing = expected.size - new Set(taken.map((one) => one.owner)).size;
              const kept = Math.min(Math.max(0, withNothing), Math.floor(max / 4));
              return taken.length < max && (own === 0 || expected.size < 2 || own < max - taken.length - kept);
            };
            return free(all, underWay, new Set(owners)) && free(each, there, expectedThere);
          };
          const assertNoneRests = (): void => {
            expect(underWay.length).toBeLessThanOrEqual(all);
            expect(lanes.filter(({ left, place }) => left > 0 && mayHave(place))).toEqual([]);
          };
          for (const { what, lane: number, receiver, pieces, position } of steps) {
            const lane = lanes[number];
            if (what === 'end' || lane === undefined) end(position);
            else if (what === 'drop') lane.left = 0;
            else {
              lane.left += pieces;
              lane.wake();
            }
            if (lane !== undefined && lane.left === 0) {
              const { place } = lane;
              lane.place = at(receiver, place.owner);
              slots.expect(lane.place);
              slots.forget(place);
            }
            assertNoneRests();
          }
          while (underWay.length > 0) end(0);
          expect(lanes.every(({ left }) => left === 0)).toBe(true);
        },
      ),
      { numRuns: Number(process.env['SLOTS_RUNS'] ?? 200) },
    );
  });
});
