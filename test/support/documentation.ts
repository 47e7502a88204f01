/** Reads what the pages tell people to type: their code blocks, and code within sentences. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));

/** The pages for users and developers, without decisions, which tell what was, and reports of measurements. */
export const PAGES: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(`${PACKAGE}/docs`)
    .filter((name) => name.endsWith('.md') && name !== 'benchmarks.md')
    .map((name) => `docs/${name}`),
];

export interface CodeBlock {
  /** As after the fence: `sh`, `json`; empty for drawings. */
  readonly language: string;
  readonly text: string;
  /** Its first line, by which it is known. */
  readonly begins: string;
}

export const readPage = (page: string): string => readFileSync(`${PACKAGE}/${page}`, 'utf8');

/** Returns the blocks between fences, in their order. */
export function codeBlocks(page: string): readonly CodeBlock[] {
  return [...readPage(page).matchAll(/^```(\w*)\n(.*?)^```/gms)].map(([, language = '', text = '']) => ({
    language,
    text,
    begins: text.split('\n', 1)[0] ?? '',
  }));
}

/** Returns the code within sentences, which may go on in the next line. */
export function inlineCode(page: string): readonly string[] {
  const sentences = readPage(page).replaceAll(/^```.*?^```/gms, '');
  return [...sentences.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replaceAll(/\s+/g, ' '));
}
