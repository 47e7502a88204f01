/**
 * Puts schemas with a `title` into the document once, under that name, and refers to them elsewhere, so that generated
 * clients have one type of that name instead of a copy per operation.
 */
import { isDeepStrictEqual } from 'node:util';

type Json = Readonly<Record<string, unknown>>;

/**
 * Keywords that contain schemas. Everything else is a value, such as an example, in which `title` may mean anything.
 */
const ONE = ['items', 'additionalProperties', 'unevaluatedProperties', 'not', 'propertyNames'] as const;
const MANY = ['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const;
const NAMED = ['properties', 'patternProperties', '$defs'] as const;
/** Allowed by the specification for names of components. */
const TITLE = /^[A-Z][A-Za-z0-9]*$/;

export class SchemaComponents {
  readonly #schemas = new Map<string, Json>();

  /** Returns the schema with references. Throws if two different schemas have the same title. */
  of(schema: unknown): unknown {
    if (typeof schema !== 'object' || schema === null) return schema;
    const whole = this.#within(schema as Json);
    const title = whole['title'];
    if (typeof title !== 'string') return whole;
    if (!TITLE.test(title)) throw new Error(`The title '${title}' of a schema is no name that a type may have`);
    const known = this.#schemas.get(title);
    if (known === undefined) this.#schemas.set(title, whole);
    const reference = { $ref: `#/components/schemas/${title}` };
    if (known === undefined || isDeepStrictEqual(known, whole)) return reference;
    // A schema may be reused with another description.
    const { description, ...form } = whole;
    const { description: _its, ...knownForm } = known;
    if (!isDeepStrictEqual(form, knownForm)) throw new Error(`Two schemas have the title '${title}'`);
    return { ...reference, ...(description === undefined ? {} : { description }) };
  }

  /** Returns the schemas, sorted by name. */
  all(): Json {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #within(schema: Json): Json {
    const copy: Record<string, unknown> = { ...schema };
    for (const key of ONE) if (key in copy) copy[key] = this.of(copy[key]);
    for (const key of MANY) if (Array.isArray(copy[key])) copy[key] = copy[key].map((each) => this.of(each));
    for (const key of NAMED) {
      const members = copy[key];
      if (typeof members !== 'object' || members === null) continue;
      copy[key] = Object.fromEntries(Object.entries(members).map(([name, each]) => [name, this.of(each)]));
    }
    return copy;
  }
}
