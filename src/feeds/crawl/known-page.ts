/** Whether what is remembered of an address is of the page that it leads to now. */
import { pageUrl } from '../urls/page-url.js';
import type { PageMemory } from './crawl-types.js';

/**
 * Validators are those of one page. An address that leads elsewhere than it did before, by a redirect that came, went or changed, is answered
 * "not modified" where the other page has the same: servers count them from 1, or make them of what a page says.
 */
export function isOfPage({ names }: Pick<PageMemory, 'names'>, asked: string, answered: string): boolean {
  // Mostly it is the address that was asked for, which `pageUrl` gave.
  const url = answered === asked ? asked : (pageUrl(answered) ?? answered);
  if (names.length === 0) return url === asked;
  return names.every((name) => name === url || name.startsWith(`${url}#`));
}
