/**
 * Reads the pages of one document within limits. It cannot be stopped inside a page that never ends; the caller then
 * kills the process.
 */
import { pageText } from './page-text.js';
import { asPdf } from './pdf-bytes.js';
import type { Pdfium, PdfiumDocument } from './pdfium.js';
import { DocumentError, type DocumentLimits, type DocumentPage, type DocumentText } from './types.js';

/** Consecutive pages that cannot be loaded before reading stops: a document may claim far more pages than it has. */
const MISSING_PAGES_MAX = 100;

/** Throws a DocumentError if no text can be read. */
export function readDocument(pdfium: Pdfium, bytes: Uint8Array, limits: DocumentLimits): DocumentText {
  const pdf = asPdf(bytes);
  if (pdf === undefined) throw new DocumentError('not-a-pdf', 'The bytes are not those of a PDF');
  const document = pdfium.open(pdf);
  let read: ReadPages;
  try {
    read = readPages(document, limits);
  } finally {
    document.close();
  }
  const { pageCount, pages } = read;
  const truncated = pages.length < pageCount || read.isCut;
  if (pages.some(({ text }) => text !== '')) return { pageCount, pages, truncated };
  if (read.isLate) throw new DocumentError('timed-out', `No page that was read in ${limits.msMax} ms has text`);
  if (read.missing === pages.length) throw new DocumentError('damaged', 'None of its pages could be loaded');
  throw new DocumentError('no-text', 'None of its pages has text: they may be pictures');
}

interface ReadPages {
  readonly pageCount: number;
  readonly pages: readonly DocumentPage[];
  /** Number of these pages that could not be loaded. */
  readonly missing: number;
  /** True if a page has more characters than were read. */
  readonly isCut: boolean;
  readonly isLate: boolean;
}

/** Returns the CPU time of this process. Wall-clock time would also depend on other processes. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function readPages(document: PdfiumDocument, { pagesMax, charactersMax, msMax }: DocumentLimits): ReadPages {
  const { pageCount } = document;
  const until = processorMs() + msMax;
  const pages: DocumentPage[] = [];
  let charactersLeft = charactersMax;
  let missing = 0;
  let missingInTurn = 0;
  let isCut = false;
  let isLate = false;
  while (pages.length < Math.min(pageCount, pagesMax) && charactersLeft > 0 && missingInTurn < MISSING_PAGES_MAX) {
    isLate = processorMs() > until;
    if (isLate) break;
    const raw = document.page(pages.length, charactersLeft);
    if (raw === undefined) missing += 1;
    missingInTurn = raw === undefined ? missingInTurn + 1 : 0;
    isCut ||= raw?.isWhole === false;
    const text = pageText(raw?.text ?? '');
    charactersLeft -= text.length;
    pages.push({ page: pages.length + 1, text });
  }
  return { pageCount, pages, missing, isCut, isLate };
}
