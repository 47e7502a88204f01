/** Prints documents on the command line. */
import type { AnswerPrinter } from '../operations/index.js';

interface Answer {
  readonly documents: readonly {
    readonly field: string;
    readonly url: string;
    readonly state: string;
    readonly page_count: number;
    readonly pages: readonly { readonly page: number; readonly text: string; readonly error?: string }[];
    readonly error?: string;
  }[];
}

export const documentText: AnswerPrinter = (answer, { count, counted }) => {
  const { documents } = answer as Answer;
  if (documents.length === 0) return 'The record links to no document.\n';
  return documents
    .map(({ field, url, state, page_count: pageCount, pages, error }) => {
      const heading = `${field}: ${url} (${error ?? `${state}, ${counted(pageCount, 'page')}`})`;
      return [
        heading,
        ...pages.map(({ page, text, error: fault }) => `--- page ${count(page)}\n${fault ?? text}`),
      ].join('\n');
    })
    .join('\n\n')
    .concat('\n');
};
