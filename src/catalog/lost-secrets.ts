/**
 * Finds secrets in the catalogue whose encryption key is missing: what uses them cannot work until the key is restored
 * or the secret is entered again.
 */
import type { SecretBox } from '../platform/index.js';

/** A collection with sealed texts, as declared by the feature that seals them. */
export interface SealedEntries {
  readonly collection: string;
  /** What an entry is called in messages. */
  readonly called: string;
  /** Returns the texts of an entry that are sealed and in use at the time; its other texts may contain anything. */
  readonly sealedOf: (entry: never, nowMs: number) => readonly (string | null | undefined)[];
}

interface Entry {
  readonly account?: string;
  readonly name?: string;
  readonly id?: string;
}

/**
 * Returns the entries with lost secrets, such as `feed default/prices`. `entriesOf` returns the entries of a
 * collection.
 */
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
