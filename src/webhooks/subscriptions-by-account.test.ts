import { expect, it } from 'vitest';
import { SubscriptionsByAccount } from './subscriptions-by-account.js';
import type { Subscription } from './types.js';

const subscription = (id: string, account: string, events: readonly string[]) =>
  ({ id, account, events }) as Subscription;

it('SubscriptionsByAccount knows the wanted events of an account without reading its other webhooks', () => {
  const known = new SubscriptionsByAccount();
  let looks = 0;
  for (let number = 0; number < 1000; number += 1) {
    const other = Object.defineProperty(subscription(`other-${number}`, 'shop', []), 'events', {
      get: () => {
        looks += 1;
        return ['list.created'];
      },
    });
    known.put(other);
  }
  looks = 0;
  known.put(subscription('own', 'shop', ['media.uploaded', 'media.uploaded']));
  expect(new Set(known.wanted('shop'))).toEqual(new Set(['list.created', 'media.uploaded']));
  const wanted = known.wanted('shop');
  known.put(subscription('another', 'shop', ['media.uploaded']));
  expect(known.wanted('shop')).toBe(wanted);
  known.delete('another');
  expect(known.wanted('shop')).toBe(wanted);
  known.put(subscription('own', 'shop', ['media.deleted']));
  expect(new Set(known.wanted('shop'))).toEqual(new Set(['list.created', 'media.deleted']));
  known.put(subscription('own', 'elsewhere', ['media.deleted']));
  expect([...known.wanted('shop')]).toEqual(['list.created']);
  known.delete('own');
  expect([...known.wanted('elsewhere')]).toEqual([]);
  expect(looks).toBe(0);
});

it('SubscriptionsByAccount knows the newest webhook of an account when one is added, changed or removed', () => {
  const known = new SubscriptionsByAccount();
  const made = (id: string, created_utc: string) =>
    known.put({ ...subscription(id, 'shop', ['list.created']), created_utc });
  expect(known.lastMadeMs('shop')).toBe(0);
  made('a', '2026-01-02T00:00:00.000Z');
  made('b', '2036-01-01T00:00:00.000Z');
  expect(known.lastMadeMs('shop')).toBe(Date.UTC(2036, 0, 1));
  expect(known.lastMadeMs('elsewhere')).toBe(0);
  known.delete('b');
  expect(known.lastMadeMs('shop')).toBe(Date.UTC(2026, 0, 2));
  known.delete('a');
  expect(known.lastMadeMs('shop')).toBe(0);
});
