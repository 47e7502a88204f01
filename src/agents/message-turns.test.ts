import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { NEVER } from '../platform/index.js';
import { MessageTurns } from './message-turns.js';

it('MessageTurns begins one message of each account in a turn of the event loop', async () => {
  const turns = new MessageTurns();
  const begun: string[] = [];
  const inTurns: string[][] = [];
  const asked = ['a', 'a', 'a', 'b', 'b'].map((account) => turns.begin(account, NEVER).then(() => begun.push(account)));
  while (begun.length < asked.length) {
    const before = begun.length;
    await setImmediate();
    if (begun.length > before) inTurns.push(begun.slice(before).toSorted());
  }
  await Promise.all(asked);
  // There are never two messages of one account.
  for (const accounts of inTurns) expect(new Set(accounts).size).toBe(accounts.length);
  expect(begun.toSorted()).toEqual(['a', 'a', 'a', 'b', 'b']);
  expect(inTurns[0]).toEqual(['a', 'b']);
});

it('MessageTurns skips the message of a client that has left, and continues with the next one', async () => {
  const turns = new MessageTurns();
  const leaving = new AbortController();
  const first = turns.begin('a', NEVER);
  const second = turns.begin('a', leaving.signal);
  const third = turns.begin('a', NEVER);
  leaving.abort(new Error('it left'));
  await first;
  await expect(second).rejects.toThrow('it left');
  await third;
});
