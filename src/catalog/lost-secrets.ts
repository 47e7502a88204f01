/** Secrets in the catalogue whose key is gone: what they are for cannot work before it comes back, or they are given anew. */
import type { SecretBox } from '../platform/index.js';

/** Collections with sealed texts, and what an entry of each is called. */
export const SEALED_COLLECTIONS: ReadonlyMap<string, string> = new Map([
  ['webhooks', 'webhook'],
  ['feeds', 'feed'],
  ['media-stores', 'media store'],
  ['models', 'model'],
]);

interface Entry {
  readonly account?: string;
  readonly name?: string;
  readonly id?: string;
}

/** What has them, such as `feed default/prices`. `entriesOf` gives what a collection holds. */
export function lostSecrets(secrets: SecretBox, entriesOf: (collection: string) => Iterable<unknown>): string[] {
  return Array.from(SEALED_COLLECTIONS).flatMap(([collection, called]) =>
    Array.from(entriesOf(collection), (entry) => entry as Entry)
      .filter((entry) => textsIn(entry).some((text) => secrets.isSealed(text) && !secrets.hasKeyOf(text)))
      .map(({ account, name, id }) => `${called} ${account ?? ''}/${name ?? id ?? ''}`),
  );
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap((each) => textsIn(each)) : [];
}
