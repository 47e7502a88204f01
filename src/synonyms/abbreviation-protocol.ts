/** Protocol between the main thread and the thread that looks for abbreviations. */
import type { AbbreviationStep, AbbreviationTask } from './abbreviation-scan.js';

export interface AbbreviationProtocol {
  readonly questions: { readonly step: { readonly ask: AbbreviationTask; readonly answer: AbbreviationStep } };
  readonly notices: Readonly<Record<never, unknown>>;
  readonly events: Readonly<Record<never, unknown>>;
}
