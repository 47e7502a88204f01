/**
 * Recognises items of a feed that have another address than in the last answer, by their guid. An address may change
 * with a title, and without this such an item would be a second record beside the first.
 */
import { createHash } from 'node:crypto';
import { ITEMS_MAX, type SyndicatedItem } from './syndicated-feed.js';

const DIGEST_CHARACTERS = 22;

/** What an item is recognised by. Texts of the feed may be long, so digests of them are kept. */
export interface ItemTraits {
  readonly guid: string;
  readonly title: string;
  /** As in the item; missing if the feed gives none. */
  readonly published?: string;
}

/** By the names of their records. */
export type TraitsOfItems = Readonly<Record<string, ItemTraits>>;

/** Undefined for an item without a guid. */
export function traitsOf({ guid, title = '', published }: SyndicatedItem): ItemTraits | undefined {
  if (guid === undefined) return undefined;
  return { guid: digestOf(guid), title: digestOf(title), ...(published === undefined ? {} : { published }) };
}

/**
 * Returns the names of records whose items now have other names. Their guids have to be those of one item alone, before
 * and now. Some feeds number their items anew each time, so the guid counts only if the item was published at the same
 * time or, where the feed gives no times, has the same title.
 */
export function formerNames(before: TraitsOfItems, now: TraitsOfItems): string[] {
  const nowByGuid = byGuid(now);
  return [...byGuid(before)].flatMap(([guid, former]) => {
    const item = nowByGuid.get(guid);
    if (former === undefined || item === undefined) return [];
    const isSame =
      former.traits.published === undefined && item.traits.published === undefined
        ? former.traits.title === item.traits.title
        : former.traits.published === item.traits.published;
    return isSame && former.name !== item.name ? [former.name] : [];
  });
}

/**
 * Returns what is kept after an answer that breaks off: its items, and those known before that it may lack, the latest
 * ones, as many as an answer can have. Renamed items are not kept under both names: a guid that two have tells nothing.
 */
export function keptTraits(before: TraitsOfItems, now: TraitsOfItems, former: readonly string[]): TraitsOfItems {
  const renamed = new Set(former);
  const current = Object.entries(now);
  const others = Object.entries(before).filter(([name]) => !Object.hasOwn(now, name) && !renamed.has(name));
  const room = Math.max(0, ITEMS_MAX - current.length);
  return Object.fromEntries([...others.slice(Math.max(0, others.length - room)), ...current]);
}

interface NamedTraits {
  readonly name: string;
  readonly traits: ItemTraits;
}

/** The value is undefined for a guid that several items have. */
function byGuid(items: TraitsOfItems): Map<string, NamedTraits | undefined> {
  const found = new Map<string, NamedTraits | undefined>();
  for (const [name, traits] of Object.entries(items))
    found.set(traits.guid, found.has(traits.guid) ? undefined : { name, traits });
  return found;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, DIGEST_CHARACTERS);
}
