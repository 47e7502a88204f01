/**
 * Interface of a kind of field: everything that the service knows of the values of one type of facet. Schemas,
 * inference, validation, columns, filters, sorting, query rules and CSV use the rows of `FIELD_KINDS`, and name no type
 * themselves.
 */

/** A value as written in a filter. `date` is an unquoted date. */
export type WrittenValue =
  | { readonly kind: 'string' | 'date'; readonly text: string }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'boolean'; readonly value: boolean };

/** Statistics of the values of an undefined field. */
export interface SeenValues {
  /** True if some record had an array. */
  readonly many: boolean;
  /** Number of values, and of distinct ones among those that are texts. */
  readonly count: number;
  readonly distinctTexts: number;
  /** Characters of the longest text. */
  readonly longestText: number;
}

export interface FieldKind<Type extends string = string> {
  /** Name of the type in a definition. */
  readonly type: Type;
  /**
   * How the kernel stores the values: as texts with a folded key, or as numbers that it prints in the way of the type.
   */
  readonly column: 'string' | 'number' | 'boolean' | 'date';
  /** Description of a value in a record; follows "takes" in messages. */
  readonly expected: string;
  /**
   * Returns what is probably wrong with a refused value, with a leading blank, appended to the message. '' for most
   * values.
   */
  readonly hint?: (value: unknown) => string;
  /**
   * Returns what the column holds for a record's value: a number, or the text whose folded form is its key. Undefined
   * if the value does not fit.
   */
  columnValue(value: unknown): number | string | undefined;
  /**
   * Converts a column value into the form in which facets show it, which `filter.read` accepts in quotes. Undefined if
   * the kernel's form is shown.
   */
  readonly shown?: (held: number | string | boolean) => number | string | boolean;
  /** Converts a CSV cell into the value it means. Other cells stay text, which validation then reports. */
  ofCell(cell: string): unknown;
  /**
   * Converts a record's text into the value it states, if nothing is lost; other texts stay. Undefined for the same as
   * `ofCell`.
   */
  readonly ofText?: (text: string) => unknown;
  readonly filter: {
    /** False if only `=` and `!=` are meaningful. */
    readonly isOrdered: boolean;
    /** Description of a value in a filter; follows "expected" in messages. */
    readonly expected: string;
    /** Follows a text that cannot be read, in messages. Undefined if such a text is reported as a wrong type. */
    readonly unreadable?: string;
    /** Returns the same as `columnValue`. Undefined if it is no such value. */
    read(written: WrittenValue): number | string | undefined;
    /** Converts what a query rule's pattern captured. Undefined if it does not fit. */
    ofCapture(text: string): WrittenValue | undefined;
  };
  /** Undefined if a field has this kind only when defined so. */
  readonly inference?: {
    /** True for values of this kind. A field is of this kind if all its values are. */
    recognises(value: unknown): boolean;
    /** False if nobody would filter by the values. */
    isFacet(seen: SeenValues): boolean;
    /** True if the values are also words to search for. */
    readonly isSearchable: boolean;
  };
}
