/** Counts the searches of accounts; implemented by a feature. */
import { serviceKey } from '../platform/index.js';

export interface SearchCounter {
  /** Called when a search of the account has returned its first page. */
  searched(account: string): void;
}

export const SEARCH_COUNTER = serviceKey<SearchCounter>('search-counter');
