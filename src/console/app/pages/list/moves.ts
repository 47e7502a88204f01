/** How hits move from one search to another. */

export type Move =
  | { readonly kind: 'same' }
  /** Only in the other search. */
  | { readonly kind: 'new' }
  /** Ranks gained; negative if the hit moved down. */
  | { readonly kind: 'moved'; readonly places: number };

/** Returns the move of each hit of `after`, by id, from its place in `before`. */
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
