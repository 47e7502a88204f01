/** What becomes of hits from one search to another. */

export type Move =
  | { readonly kind: 'same' }
  /** Of the other search, not of this one. */
  | { readonly kind: 'new' }
  /** Places nearer to the first one; below 0: away from it. */
  | { readonly kind: 'moved'; readonly places: number };

/** How each hit of `after`, by its id, stands to its place in `before`. */
export function movesOf(before: readonly string[], after: readonly string[]): ReadonlyMap<string, Move> {
  const places = new Map(before.map((id, place) => [id, place]));
  return new Map(
    after.map((id, place): [string, Move] => {
      const old = places.get(id);
      if (old === undefined) return [id, { kind: 'new' }];
      return [id, old === place ? { kind: 'same' } : { kind: 'moved', places: old - place }];
    }),
  );
}
