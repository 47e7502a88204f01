import { expect, it } from 'vitest';
import { SubscriptionsByAccount } from './subscriptions-by-account.js';
import type { Subscription } from './types.js';

const subscription = (id: string, account: string, events: readonly string[]) =>
  ({ id, account, events }) as Subscription;

it('what webhooks of an account want is known without looking at the others when one comes, changes or goes', () => {
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
