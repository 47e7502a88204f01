/**
 * Tests that everything in the OpenAPI document has a description of a readable length, for people and models that
 * have never seen the service.
 */
import { describe, expect, it } from 'vitest';
import { EventCatalogue } from '../../src/platform/index.js';
import { openApiDocument } from '../../src/operations/openapi/openapi.js';
import { agentTools } from '../../src/agents/index.js';
import { allOperations } from '../../src/main.js';

/** In characters: a summary is one line in a list, a description is a paragraph or two. */
const SUMMARY_MAX = 80;
const DESCRIPTION_MAX = 1_500;
/** Of a property or parameter, which is shown in a table. */
const MEMBER_MAX = 700;
/** How a summary begins if it does not say what its operation does. */
const NO_IMPERATIVE = /^(?:The|A|An|All|What|Who|Whose|Where|How|Whether|Never)\b|'s\b/;

type Json = Readonly<Record<string, unknown>>;
interface Operation extends Json {
  readonly operationId: string;
  readonly summary?: string;
  readonly responses: Readonly<Record<string, Json>>;
  readonly parameters?: readonly Json[];
}

const operations = await allOperations();
const document = JSON.parse(JSON.stringify(openApiDocument(operations, new EventCatalogue()))) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<
    Record<'schemas' | 'responses' | 'headers' | 'securitySchemes', Readonly<Record<string, Json>>>
  >;
};
const described = [...Object.values(document.paths), ...Object.values(document.webhooks)].flatMap((item) =>
  Object.values(item),
);

function textOf({ description, $ref }: Json): string {
  if (typeof description === 'string') return description.trim();
  return typeof $ref === 'string' ? textOf(document.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {}) : '';
}

/**
 * Yields each property below the value, with its place. Examples, defaults and enumerations contain values and no
 * schemas.
 */
function* propertiesOf(value: unknown, place: string): Generator<readonly [place: string, schema: Json]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, each] of Object.entries(value)) {
    if (['example', 'examples', 'enum', 'default', 'x-members'].includes(key)) continue;
    if (key === 'properties' && !place.endsWith('/properties')) {
      for (const [name, schema] of Object.entries(each as Readonly<Record<string, Json>>)) {
        yield [`${place}.${name}`, schema];
        yield* propertiesOf(schema, `${place}.${name}`);
      }
    } else yield* propertiesOf(each, `${place}/${key}`);
  }
}

const properties = [...propertiesOf(document, '')];
const parameters = described.flatMap(({ operationId, parameters: own = [] }) =>
  own.map((each) => [`${operationId} ${String(each['name'])}`, each] as const),
);

describe('texts of the OpenAPI document', () => {
  it('summarize each operation in a line that begins with a verb', () => {
    const wrong = Object.values(document.paths)
      .flatMap((item) => Object.values(item))
      .filter(
        ({ summary = '' }) =>
          !/^[A-Z][a-z]+ /.test(`${summary} `) || NO_IMPERATIVE.test(summary) || summary.length > SUMMARY_MAX,
      );
    expect(wrong.map(({ operationId, summary }) => `${operationId}: ${summary ?? ''}`)).toEqual([]);
  });

  it('use the words of CONTRIBUTING for people, keys and what is done with them', () => {
    const sentences = [
      ...described.flatMap((operation) => [operation.summary ?? '', textOf(operation)]),
      ...properties.map(([, schema]) => textOf(schema)),
      ...parameters.map(([, each]) => textOf(each)),
    ];
    // What is in code, is a path or is an id is a name of the interface.
    const plain = sentences.map((text) => text.replaceAll(/`[^`]*`/g, ''));
    expect(plain.filter((text) => /\be-mail|\bcontributors?\b(?![.:-])|\blogs? in\b|\brevoke/i.test(text))).toEqual([]);
  });

  it('describe each parameter, property, header, named schema and answer', () => {
    const answers = described.flatMap(({ operationId, responses }) =>
      Object.entries(responses)
        .filter(([, each]) => !('$ref' in each))
        .map(([status, each]) => [`${operationId} ${status}`, each] as const),
    );
    const { schemas, responses, headers, securitySchemes } = document.components;
    const components = [schemas, responses, headers, securitySchemes].flatMap((each) => Object.entries(each));
    expect(properties.length).toBeGreaterThan(500);
    const bare = [...properties, ...parameters, ...answers, ...components].filter(
      ([, schema]) => textOf(schema) === '',
    );
    expect(bare.map(([place]) => place)).toEqual([]);
  });

  it('are short enough to be read', () => {
    const long = [...properties, ...parameters].filter(([, schema]) => textOf(schema).length > MEMBER_MAX);
    expect(long.map(([place]) => place)).toEqual([]);
    const pages: string[] = [];
    JSON.stringify(document, (key, value: unknown) => {
      if (key === 'description' && typeof value === 'string' && value.length > DESCRIPTION_MAX) pages.push(value);
      return value;
    });
    expect(pages).toEqual([]);
  });

  it('are short enough for an agent as descriptions of tools', () => {
    const long = agentTools(operations).filter(({ description }) => description.length > DESCRIPTION_MAX);
    expect(long.map(({ name }) => name)).toEqual([]);
  });
});
