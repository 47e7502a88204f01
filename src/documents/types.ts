/** Types of what is read from a document, its faults and limits. */
export interface DocumentPage {
  /** Counted from 1. */
  readonly page: number;
  /** Lines end with a line feed. '' if the page has no text or could not be read. */
  readonly text: string;
}

export interface DocumentText {
  readonly pageCount: number;
  /** The first pages, in order. */
  readonly pages: readonly DocumentPage[];
  /** True if there are more pages than were read. */
  readonly truncated: boolean;
}

/** Reasons why a document has no text, as named in the API. */
export const DOCUMENT_FAULTS = ['not-a-pdf', 'encrypted', 'damaged', 'no-text', 'too-large', 'timed-out'] as const;
export type DocumentFault = (typeof DOCUMENT_FAULTS)[number];

export class DocumentError extends Error {
  override readonly name = 'DocumentError';

  constructor(
    readonly fault: DocumentFault,
    message: string,
  ) {
    super(message);
  }
}

/** Limits for reading a document. */
export interface DocumentLimits {
  /** Further pages are not read. */
  readonly pagesMax: number;
  /** Limit on the characters of all pages; the rest is not read. */
  readonly charactersMax: number;
  /** CPU time after which no page is started. */
  readonly msMax: number;
}
