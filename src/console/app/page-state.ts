/** What the addresses of pages hold of what is shown, as the pages themselves read it. */

/** Options of a search, as they are in the address. */
export type SearchState = Readonly<Record<string, string | number | boolean | undefined>>;

export const searchState = (search: Record<string, unknown>): SearchState =>
  Object.fromEntries(
    Object.entries(search).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value)),
  ) as SearchState;

export interface GroupState {
  readonly query?: string;
  /** The link of one that is searched by. */
  readonly picture?: string;
  readonly days?: number;
}
