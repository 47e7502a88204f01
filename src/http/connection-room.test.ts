/** More connections than there are file descriptors. */
import { expect, it } from 'vitest';
import { ConnectionRoom } from './connection-room.js';

const MAX = 1000;
/** The descriptors that are reserved for everything but connections. */
const LEFT = 125;
const OTHERS = 100;

function roomWith(others: { used: number; max: number }) {
  const refusals: boolean[] = [];
  const uses: number[] = [];
  let [open, nowMs, counted] = [0, 0, 0];
  const room = new ConnectionRoom(
    ({ used }, isNews) => {
      refusals.push(isNews);
      uses.push(used);
    },
    () => {
      counted += 1;
      return { resource: 'descriptors', used: others.used + open, max: others.max };
    },
    () => nowMs,
  );
  return {
    refusals,
    uses,
    counted: () => counted,
    pass: (ms: number) => (nowMs += ms),
    enter() {
      open += 1;
      if (room.enter()) return true;
      this.leave();
      return false;
    },
    leave() {
      open -= 1;
      room.leave();
    },
  };
}

const enterMany = (room: ReturnType<typeof roomWith>, count: number): number =>
  Array.from({ length: count }, () => room.enter()).filter(Boolean).length;

it('ConnectionRoom admits as many connections as there are descriptors, and another one when one has closed', () => {
  const room = roomWith({ used: OTHERS, max: MAX });
  expect(enterMany(room, 2 * MAX)).toBe(MAX - LEFT - OTHERS);
  expect(room.enter()).toBe(false);
  // The refused connection is included.
  expect(room.uses.at(-1)).toBe(MAX - LEFT + 1);
  room.leave();
  expect(room.enter()).toBe(true);
  expect(room.counted()).toBe(1);
});

it('ConnectionRoom reports refusals as news once a minute', () => {
  const room = roomWith({ used: OTHERS, max: MAX });
  enterMany(room, MAX);
  const { length } = room.refusals;
  expect(room.refusals.filter(Boolean)).toEqual([true]);
  room.pass(59_000);
  room.enter();
  room.pass(1000);
  room.enter();
  expect(room.refusals.slice(length)).toEqual([false, true]);
});

it('ConnectionRoom follows other open descriptors and a changing limit', () => {
  const others = { used: OTHERS, max: MAX };
  const room = roomWith(others);
  enterMany(room, MAX);
  others.used += 50;
  room.pass(1000);
  room.leave();
  expect(room.enter()).toBe(false);
  others.max = 2 * MAX;
  room.pass(1000);
  expect(enterMany(room, 100)).toBe(100);
});

it('ConnectionRoom always admits some connections, and all of them if the system has no known limit', () => {
  expect(enterMany(roomWith({ used: MAX, max: MAX }), 100)).toBe(32);
  const unknown = new ConnectionRoom(
    () => undefined,
    () => undefined,
  );
  expect(Array.from({ length: 5000 }, () => unknown.enter()).every(Boolean)).toBe(true);
});
