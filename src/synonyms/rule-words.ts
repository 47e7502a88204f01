/** The words of a rule's terms, and of queries as they are compared with them. */

/** What the kernel tells of a word, as far as rules need it. */
export interface AnalysedWord {
  readonly term: string;
  readonly signed?: string | undefined;
}

/**
 * Returns the word, with a plus behind it if there is one: a rule about `C++` is not one about `C`. Other signs are not
 * part of it: `.NET` in a rule also stands for `ASP.NET`.
 */
export function ruleWord({ term, signed }: AnalysedWord): string {
  return signed?.endsWith('+') === true ? signed : term;
}
