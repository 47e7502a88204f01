/** Secrets in the catalogue whose key is gone: what they are for cannot work before it comes back, or they are given anew. */
import type { SecretBox } from '../platform/index.js';

/** A collection with sealed texts, as the feature that seals them declares it. */
export interface SealedEntries {
  readonly collection: string;
  /** What an entry is called. */
  readonly called: string;
  /** What of an entry is sealed and in use at the time: other texts of it are whatever somebody wrote. */
  readonly sealedOf: (entry: never, nowMs: number) => readonly (string | null | undefined)[];
}

interface Entry {
  readonly account?: string;
  readonly name?: string;
  readonly id?: string;
}

/** What has them, such as `feed default/prices`. `entriesOf` gives what a collection holds. */
export function lostSecrets(
  secrets: SecretBox,
  declared: readonly SealedEntries[],
  entriesOf: (collection: string) => Iterable<unknown>,
): string[] {
  const nowMs = Date.now();
  const isLost = (text: string | null | undefined) =>
    typeof text === 'string' && secrets.isSealed(text) && !secrets.hasKeyOf(text);
  return declared.flatMap(({ collection, called, sealedOf }) =>
    Array.from(entriesOf(collection), (entry) => entry as Entry)
      .filter((entry) => sealedOf(entry as never, nowMs).some(isLost))
      .map(({ account, name, id }) => `${called} ${account ?? ''}/${name ?? id ?? ''}`),
  );
}
