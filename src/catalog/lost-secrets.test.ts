/** Only fields that features declare as sealed are examined, and only while they are in use. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { FEATURES } from '../features.js';
import { SecretBox } from '../platform/index.js';
import { lostSecrets } from './lost-secrets.js';

const folder = mkdtempSync(join(tmpdir(), 'gannet-lost-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});
const secrets = new SecretBox({ path: join(folder, 'secret-keys'), given: [] });
const declared = FEATURES.flatMap(({ sealed }) => sealed ?? []);
const LOST = `sealed1.deadbeef.${'a'.repeat(64)}`;
const HOUR_MS = 3_600_000;

function lost(collection: string, entry: object): string[] {
  return lostSecrets(secrets, declared, (name) =>
    name === collection ? [{ account: 'default', id: 'x', ...entry }] : [],
  );
}

it.each([
  ['webhooks', { secret: LOST }, 'webhook default/x'],
  ['feeds', { secret: LOST }, 'feed default/x'],
  ['models', { secret: LOST }, 'model default/x'],
  ['media-stores', { settings: { kind: 's3', secret_access_key: LOST } }, 'media store default/x'],
])('lostSecrets reports a lost secret in %s', (collection, entry, told) => {
  expect(secrets.isSealed(LOST)).toBe(true);
  expect(lost(collection, entry)).toEqual([told]);
});

it('lostSecrets ignores sealed text in fields that users write', () => {
  expect(lost('models', { secret: null, query_prefix: LOST })).toEqual([]);
  expect(lost('feeds', { secret: null, url: LOST })).toEqual([]);
});

it('lostSecrets reports previous secrets of webhooks only while these are valid', () => {
  const until = (ms: number) => ({
    secret: 'plain',
    previous_secret: LOST,
    previous_secret_until: new Date(Date.now() + ms).toISOString(),
  });
  expect(lost('webhooks', until(HOUR_MS))).toEqual(['webhook default/x']);
  expect(lost('webhooks', until(-HOUR_MS))).toEqual([]);
});
