const NOT_ASCII = /\P{ASCII}/u;

/**
 * The key under which a facet's string value is compared and sorted: ingest stores it in the column, the filter language
 * and the merging of facets look values up by it. Canonically equal strings have one key; case is ignored, accents are not.
 * Upper case comes first, so that `ß` equals `SS` and every form of sigma is one.
 */
export function foldFacetValue(value: string): string {
  if (!NOT_ASCII.test(value)) return value.toLowerCase();
  return value.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
}
