/**
 * Paths into JSON as the settings of a feed have them: JSONPath (RFC 9535), or names joined by dots. Filters are not taken, and of
 * descendants only one step, so that a path takes a time that grows with the document alone.
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

  /** Everything that it leads to, in the order of the document. */
  all(value: JsonValue): JsonValue[] {
    return query(value as Parameters<typeof query>[0], this.path);
  }

  /** The first text, number or boolean that it leads to. */
  scalar(value: JsonValue): string | number | boolean | undefined {
    for (const found of this.all(value)) {
      if (typeof found === 'string' || typeof found === 'number' || typeof found === 'boolean') return found;
    }
    return undefined;
  }
}
