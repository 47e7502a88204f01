/**
 * Paths into JSON, as used in the settings of a feed: JSONPath (RFC 9535), or names joined by dots. Filters are
 * refused, and a path may have only one descendant step, so that the time a path takes grows only with the size of the
 * document.
 */
import { query } from 'jsonpath-rfc9535';

export type JsonValue =
  string | number | boolean | null | readonly JsonValue[] | { readonly [member: string]: JsonValue };

const PATH_CHARACTERS_MAX = 500;

export class JsonPath {
  private readonly path: string;

  /** Throws a SyntaxError that says what was expected. */
  constructor(readonly text: string) {
    this.path = text.startsWith('$')
      ? text
      : `$${text
          .split('.')
          .map((name) => `[${JSON.stringify(name)}]`)
          .join('')}`;
    const bare = this.path.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '');
    if (text === '' || text.length > PATH_CHARACTERS_MAX || bare.includes('?') || bare.split('..').length > 2) {
      throw new SyntaxError(
        `'${text.slice(0, 100)}' is no path: a JSONPath without filters was expected, or names joined by dots.`,
      );
    }
    try {
      query(null, this.path);
    } catch (error) {
      throw new SyntaxError(`'${text}' is no path: it cannot be read as JSONPath.`, { cause: error });
    }
  }

  /** Returns everything that the path matches, in the order of the document. */
  all(value: JsonValue): JsonValue[] {
    return query(value as Parameters<typeof query>[0], this.path);
  }

  /** Returns the first string, number or boolean that the path matches. */
  scalar(value: JsonValue): string | number | boolean | undefined {
    for (const found of this.all(value)) {
      if (typeof found === 'string' || typeof found === 'number' || typeof found === 'boolean') return found;
    }
    return undefined;
  }
}
