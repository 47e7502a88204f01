/** Page state kept in addresses, as pages read it. */

/** Options of a search in the address. */
export type SearchState = Readonly<Record<string, string | number | boolean | undefined>>;

export const searchState = (search: Record<string, unknown>): SearchState =>
  Object.fromEntries(
    Object.entries(search).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value)),
  ) as SearchState;

/** Options of a search in a group, and the days of its report. */
export type GroupState = SearchState & { readonly days?: number; readonly skip?: number };
