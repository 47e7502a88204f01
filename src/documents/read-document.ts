/** The pages of one document, within limits. Where it cannot be stopped, in a page without end, whoever asked kills the process. */
import { pageText } from './page-text.js';
import { asPdf } from './pdf-bytes.js';
import type { Pdfium, PdfiumDocument } from './pdfium.js';
import { DocumentError, type DocumentLimits, type DocumentPage, type DocumentText } from './types.js';

/** Pages that cannot be loaded, one after the other: a document that claims more than it has is not asked for each of them. */
const MISSING_PAGES_MAX = 100;

/** Throws a DocumentError where there is no text to be had. */
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
  /** Pages, among these, that could not be loaded. */
  readonly missing: number;
  /** Of a page there are more characters. */
  readonly isCut: boolean;
  readonly isLate: boolean;
}

/** That this process has taken: where others keep the processors busy, the clock says nothing of the document. */
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
