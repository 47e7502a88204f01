/** Tells whether what is remembered of an address belongs to the page that it leads to now. */
import { pageUrl } from '../urls/page-url.js';
import type { PageMemory } from './crawl-types.js';

/**
 * Validators belong to one page. If an address leads elsewhere than before, because a redirect was added, removed or
 * changed, it is answered "not modified" whenever the other page has the same validators: some servers count them from
 * 1, or derive them from the content.
 */
export function isOfPage({ names }: Pick<PageMemory, 'names'>, asked: string, answered: string): boolean {
  // Mostly the requested address, which `pageUrl` has already normalized.
  const url = answered === asked ? asked : (pageUrl(answered) ?? answered);
  if (names.length === 0) return url === asked;
  return names.every((name) => name === url || name.startsWith(`${url}#`));
}
