/**
 * Recognizes pages that are answered with 200 and are not what they were: a failing site, or one that asks for a login,
 * may say so in a page.
 */
import type { PageReading } from '../pages/page-reader.js';
import type { FoundBy, PageMemory } from './crawl-types.js';

/** True if the page was a record, and has other content now. */
function isOther(page: PageReading, known: PageMemory | undefined): known is PageMemory {
  return known !== undefined && known.names.length > 0 && known.contentHash !== page.contentHash;
}

/** Returns why the page says nothing about its address; undefined if it does. */
export function faultOf(page: PageReading, known: PageMemory | undefined, found: FoundBy): string | undefined {
  if (found === 'start' && page.looksMissing) return 'The page says that there is no such page.';
  if (found !== 'start' && !isOther(page, known)) return undefined;
  if (page.looksRefused) return `It answered 200 with a page that says '${page.title.slice(0, 100)}'.`;
  return isOther(page, known) && page.needsJavaScript ? 'needs JavaScript' : undefined;
}

/**
 * True if the page lacks its end, so that links may be missing. A page that is the same in two runs is written like
 * that.
 */
export function isCutOff(page: PageReading, known: PageMemory | undefined): boolean {
  return page.breaksOff && known?.cutOffHash !== page.contentHash;
}

/** True if the page lacks its end, which it had when it was stored: the stored reading is better. */
export function lostItsEnd(page: PageReading, known: PageMemory | undefined): known is PageMemory {
  return page.breaksOff && known !== undefined && known.names.length > 0 && known.cutOffHash === undefined;
}
