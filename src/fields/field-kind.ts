/**
 * What a kind of field is: everything that the service knows of the values of one type of facet. A row of `FIELD_KINDS` is one of
 * these; schemas, inference, validation, columns, filters, sorting, query rules and CSV ask it and know no type by name.
 */

/** A value as a filter writes it. `date`: a date without quotes. */
export type WrittenValue =
  | { readonly kind: 'string' | 'date'; readonly text: string }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'boolean'; readonly value: boolean };

/** What was seen of the values of a field that nobody has defined. */
export interface SeenValues {
  /** Some record had an array. */
  readonly many: boolean;
  /** How many there were, and how many different ones among those that are texts. */
  readonly count: number;
  readonly distinctTexts: number;
  /** Characters of the longest text. */
  readonly longestText: number;
}

export interface FieldKind<Type extends string = string> {
  /** The name of the type in a definition. */
  readonly type: Type;
  /** How the kernel keeps the values: as texts with a folded key, or as numbers that it prints as its type says. */
  readonly column: 'string' | 'number' | 'boolean' | 'date';
  /** Of a value in a record, behind "takes". */
  readonly expected: string;
  /** Behind the sentence that refuses such a value in a record, with a blank before it: what is probably wrong; empty for most values. */
  readonly hint?: (value: unknown) => string;
  /** What the column holds of a record's value: a number, or the text whose folded form is its key; undefined where the value does not fit. */
  columnValue(value: unknown): number | string | undefined;
  /** A value of the column as answers count it in facets, in a form that `filter.read` takes in quotes. Absent: as the kernel prints what the column holds. */
  readonly shown?: (held: number | string | boolean) => number | string | boolean;
  /** A cell of a CSV file as the value that is meant; what is none stays text, which validation then names. */
  ofCell(cell: string): unknown;
  /** A text that a record has, as the value that it says where nothing is lost by that; any other stays text. Absent: as `ofCell`. */
  readonly ofText?: (text: string) => unknown;
  readonly filter: {
    /** False: only `=` and `!=` have a meaning. */
    readonly isOrdered: boolean;
    /** Of a value in a filter, behind "expected". */
    readonly expected: string;
    /** Behind the text that was given, where it is one and cannot be read; absent: it is of another type than expected. */
    readonly unreadable?: string;
    /** As `columnValue` would have it; undefined where it is no such value. */
    read(written: WrittenValue): number | string | undefined;
    /** What a pattern of a query rule captured; undefined where it does not fit. */
    ofCapture(text: string): WrittenValue | undefined;
  };
  /** Absent: a field is of this kind only where somebody says so. */
  readonly inference?: {
    /** True where all values of a field being so makes it of this kind. */
    recognises(value: unknown): boolean;
    /** False where values are of this kind and nobody would filter by them. */
    isFacet(seen: SeenValues): boolean;
    /** The values are words to be searched, too. */
    readonly isSearchable: boolean;
  };
}
