/** Page state kept in addresses, as pages read it. */

/** Options of a search in the address. */
export type SearchState = Readonly<Record<string, string | number | boolean | undefined>>;

export const searchState = (search: Record<string, unknown>): SearchState =>
  Object.fromEntries(
    Object.entries(search).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value)),
  ) as SearchState;

export interface GroupState {
  readonly query?: string;
  /** Link of the picture that is searched by. */
  readonly picture?: string;
  /** Number of hits before the page. */
  readonly skip?: number;
  readonly days?: number;
}
