/**
 * Limits of the interface that are not settings: changing one changes what clients may rely on.
 * Limits that an operator may change are in `config/default.toml`.
 */

export const NAME_LENGTH_MAX = 64;
export const RECORD_NAME_CHARACTERS_MAX = 512;
export const FIELD_NAME_CHARACTERS_MAX = 128;
export const FIELDS_PER_LIST_MAX = 256;

export const SEARCH_SIZE_DEFAULT = 10;
/** Bytes of a page of stored records: the page ends before the record that would exceed them, but has at least one. */
export const RECORDS_PAGE_BYTES_MAX = 16_777_216;
export const SEARCH_SIZE_MAX = 1000;
export const FACET_SIZE_DEFAULT = 20;
export const FACET_SIZE_MAX = 1000;
export const ORDER_BY_KEYS_MAX = 4;

/** Characters of path and query string, as sent. Longer options go into the body of a POST. */
export const REQUEST_TARGET_CHARACTERS_MAX = 16_384;
/**
 * Characters of one decoded text option of a query string: percent-encoded and together with the others, it has to fit
 * the limit above.
 */
export const QUERY_OPTION_CHARACTERS_MAX = 4096;
export const REQUEST_ID_CHARACTERS_MAX = 128;
/** Number of faulty places that one problem document names. */
export const ERROR_PLACES_MAX = 50;
/** Characters of a faulty value that an error repeats. */
export const ERROR_VALUE_CHARACTERS_MAX = 60;
/** Characters of a place that an error names, since a member's name may be as long as the body. */
export const ERROR_PLACE_CHARACTERS_MAX = 500;
