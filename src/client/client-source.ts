/**
 * Generates the typed client as TypeScript from the registry: for each operation, the types of input and answer, a
 * function, and the input schemas, from which forms take limits and texts. Exports are separate, so that a bundle
 * contains only what it imports.
 */
import type { TSchema } from 'typebox';
import { PermissionCatalogue } from '../access/index.js';
import { isStreamBody, type Operation } from '../operations/index.js';
import { isIdentifier, typeText } from './type-text.js';

/** Path of the transport relative to the generated file in `dist/client`. */
const TRANSPORT = '../../src/client/transport.js';

export function clientSource(operations: readonly Operation[]): string {
  const permissions = new PermissionCatalogue(operations.map(({ permission }) => permission));
  return [
    '/** Made by `npm run setup` of the registry of operations. Changes belong there. */',
    `import { operation, type StreamInput } from '${TRANSPORT}';`,
    `export * from '${TRANSPORT}';`,
    '',
    '/** Everything that a key may be allowed and an operation needs, in the order in which the console shows it. */',
    `export const permissions: readonly string[] = ${JSON.stringify(permissions.needed)};`,
    '',
    ...operations.map(operationSource),
  ].join('\n');
}

/** `search-result.delete-matching` → `searchResultDeleteMatching`. */
export function functionName(operation: string): string {
  return operation.replace(/[.-]+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function operationSource(operation: Operation): string {
  const { name, method, path, permission, summary } = operation;
  const call = functionName(name);
  if (!isIdentifier(call)) throw new Error(`The operation '${name}' has no name that a function can have.`);
  const type = `${call.charAt(0).toUpperCase()}${call.slice(1)}`;
  const route = JSON.stringify({ name, method, path, body: bodyKind(operation), permission });
  return [
    `export interface ${type}Input {`,
    ...inputMembers(operation),
    '}',
    `export type ${type}Output = ${outputText(operation)};`,
    `/** ${commentText(summary)} */`,
    `export const ${call} = /* @__PURE__ */ operation<${type}Input, ${type}Output>(${route});`,
    `export const ${call}Schemas = ${JSON.stringify(schemasOf(operation))} as const;`,
    '',
  ].join('\n');
}

function bodyKind({ body }: Operation): 'none' | 'json' | 'stream' {
  if (body === undefined) return 'none';
  return isStreamBody(body) ? 'stream' : 'json';
}

function inputMembers({ params, query, body }: Operation): string[] {
  return [
    ...memberOf('params', params),
    ...(query === undefined ? [] : memberOf('query', query)),
    ...(body === undefined ? [] : [`  body: ${isStreamBody(body) ? 'StreamInput' : typeText(body)};`]),
  ];
}

/** Returns a member of the input. It is optional if nothing in it is required. */
function memberOf(name: string, schema: TSchema): string[] {
  const { properties = {}, required = [] } = schema as { properties?: object; required?: readonly string[] };
  if (Object.keys(properties).length === 0) return [];
  return [`  ${name}${required.length === 0 ? '?' : ''}: ${typeText(schema)};`];
}

function outputText({ responses }: Operation): string {
  const answers = Object.values(responses).map(({ schema }) => (schema === null ? 'undefined' : typeText(schema)));
  return [...new Set(answers)].join(' | ');
}

function schemasOf({ params, query, body }: Operation): object {
  return { params, ...(query === undefined ? {} : { query }), ...(isStreamBody(body) ? {} : { body }) };
}

function commentText(text: string): string {
  return text.replaceAll('*/', '* /');
}
