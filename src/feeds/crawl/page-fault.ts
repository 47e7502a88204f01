/** Pages that are answered with 200 and are not what they were: a site that fails, or that asks who is there, says so in a page. */
import type { PageReading } from '../pages/page-reader.js';
import type { FoundBy, PageMemory } from './crawl-types.js';

/** It was a record, and says something else now. */
function isOther(page: PageReading, known: PageMemory | undefined): known is PageMemory {
  return known !== undefined && known.names.length > 0 && known.contentHash !== page.contentHash;
}

/** Why the page says nothing of what stood at its address; undefined where it does. */
export function faultOf(page: PageReading, known: PageMemory | undefined, found: FoundBy): string | undefined {
  if (found === 'start' && page.looksMissing) return 'The page says that there is no such page.';
  if (found !== 'start' && !isOther(page, known)) return undefined;
  if (page.looksRefused) return `It answered 200 with a page that says '${page.title.slice(0, 100)}'.`;
  return isOther(page, known) && page.needsJavaScript ? 'needs JavaScript' : undefined;
}

/** It lacks its end, so that links may be missing; one that is like that in two runs is written like that. */
export function isCutOff(page: PageReading, known: PageMemory | undefined): boolean {
  return page.breaksOff && known?.cutOffHash !== page.contentHash;
}

/** It lacks its end, which it had when it was taken: what was read then is better. */
export function lostItsEnd(page: PageReading, known: PageMemory | undefined): known is PageMemory {
  return page.breaksOff && known !== undefined && known.names.length > 0 && known.cutOffHash === undefined;
}
