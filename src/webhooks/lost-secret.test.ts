/** A webhook whose secret cannot be decrypted works again once it has a new one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CollectionStore, lostSecrets, openCatalog } from '../catalog/index.js';
import { openEnvironment, SecretBox, systemClock } from '../platform/index.js';
import { webhooks } from './feature.js';
import { SubscriptionStore } from './subscription-store.js';

it('Rotating a lost secret does not keep it as the previous one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-lost-'));
  const environment = openEnvironment(join(folder, 'system'), { kind: 'system' });
  try {
    const catalog = await openCatalog(environment, systemClock);
    await catalog.createAccount('default', 'eu');
    const unreadable: string[] = [];
    const storeWith = (secrets: SecretBox) =>
      new SubscriptionStore({
        environment,
        secrets,
        clock: systemClock,
        subscriptionsMax: 10,
        secretOverlapHours: 24,
        onChange: () => Promise.resolve(),
        onUnreadable: (id) => unreadable.push(id),
      });
    const first = storeWith(new SecretBox({ path: join(folder, 'keys'), given: [] }));
    const { subscription } = await first.create('default', { url: 'https://example.com', events: ['list.created'] });
    // The key of the first secret is gone.
    const secrets = new SecretBox({ path: join(folder, 'other-keys'), given: [] });
    const store = storeWith(secrets);
    const lost = () =>
      lostSecrets(secrets, webhooks.sealed ?? [], (name) => CollectionStore.of(environment).collection(name).values());
    expect([unreadable, lost()]).toEqual([[subscription.id], [`webhook default/${subscription.id}`]]);
    await store.rotateSecret('default', subscription.id);
    expect(lost()).toEqual([]);
    expect(store.get('default', subscription.id)).toMatchObject({ previous_secret: null, previous_secret_until: null });
    // A readable secret is kept as the previous one.
    await store.rotateSecret('default', subscription.id);
    expect(store.get('default', subscription.id)?.previous_secret).not.toBeNull();
  } finally {
    await environment.close();
    rmSync(folder, { recursive: true });
  }
});
