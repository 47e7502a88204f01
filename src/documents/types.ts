/** What is read of a document, and what keeps it from being read. */
export interface DocumentPage {
  /** From 1. */
  readonly page: number;
  /** Lines end in a line feed; '' where the page has none, or could not be read. */
  readonly text: string;
}

export interface DocumentText {
  readonly pageCount: number;
  /** The first ones, in order. */
  readonly pages: readonly DocumentPage[];
  /** There are more pages than were read. */
  readonly truncated: boolean;
}

/** Why a document has no text, as the API names it. */
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

/** Within which a document is read. */
export interface DocumentLimits {
  /** Pages behind it are not read. */
  readonly pagesMax: number;
  /** Characters of all pages; the rest is not read. */
  readonly charactersMax: number;
  /** No page is begun after so much of a processor. */
  readonly msMax: number;
}
