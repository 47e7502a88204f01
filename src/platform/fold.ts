const NOT_ASCII = /\P{ASCII}/u;

/**
 * Returns the key by which a facet's string value is compared and sorted: ingest stores it in the column; filters and
 * the merging of facets look values up by it. Canonically equal strings have the same key; case is ignored, accents are
 * not. Converts to upper case first, so that `ß` equals `SS` and all forms of sigma are equal.
 */
export function foldFacetValue(value: string): string {
  if (!NOT_ASCII.test(value)) return value.toLowerCase();
  return value.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
}
