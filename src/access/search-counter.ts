/** Who counts the searches of accounts, as operations find them; a feature does. */
import { serviceKey } from '../platform/index.js';

export interface SearchCounter {
  /** A search of the account has run: its first page. Called at each of them. */
  searched(account: string): void;
}

export const SEARCH_COUNTER = serviceKey<SearchCounter>('search-counter');
