/**
 * Checks every answer a test receives against the service's own OpenAPI document: the status is declared, the body
 * matches its schema, an error is a problem document with a code that the operation declares. So each API test also
 * tests the document.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Answer } from './client.js';

interface Content {
  readonly schema?: Record<string, unknown>;
}

export interface OpenApiParameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required?: boolean;
  readonly schema: Record<string, unknown>;
}

export interface OpenApiOperation {
  readonly operationId: string;
  readonly parameters?: readonly OpenApiParameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description?: string;
        readonly headers?: object;
        readonly content?: Readonly<Record<string, Content>>;
      }
    >
  >;
  readonly security: readonly unknown[];
  readonly 'x-permission'?: string;
  readonly 'x-callers': readonly string[];
}

type Components = Readonly<Record<string, Readonly<Record<string, object>>>>;

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: Components;
}

/** An operation of the document with its method and path. */
export interface DescribedOperation {
  readonly method: string;
  readonly path: string;
  readonly description: OpenApiOperation;
}

const PROBLEM_TYPE = 'application/problem+json';
/** Headers of HTTP itself, of the web server, and of CORS. */
const OF_EVERY_ANSWER =
  /^(?:connection|content-(?:length|type|encoding)|date|keep-alive|transfer-encoding|uwebsockets|vary|access-control-.*)$/;
const STACK = /\n\s+at |node:internal|\.[jt]s:\d+/;

export class AnswerChecker {
  readonly operations: readonly DescribedOperation[];
  /** Sorted so that fixed segments come before parameters. */
  readonly #places: readonly { readonly operation: DescribedOperation; readonly segments: readonly string[] }[];
  /**
   * Schemas are not validated, since the document's own test does that. Compiled on demand and without optimisation,
   * since each test file calls a few of them a few times.
   */
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false, code: { optimize: false } });
  readonly #checks = new Map<object, ValidateFunction>();

  constructor(document: OpenApiDocument) {
    addFormats.default(this.#ajv);
    const references = new References(document.components);
    this.operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, description]) => new Operation(method, path, description, references)),
    );
    this.#places = this.operations
      .map((operation) => ({ operation, segments: operation.path.split('/') }))
      .sort((one, other) => parameterCount(one.segments) - parameterCount(other.segments));
  }

  /** Throws if the document does not allow the answer. */
  check(method: string, path: string, answer: Answer): void {
    const operation = this.operationAt(method, path);
    const where = `${method} ${path} → ${answer.status} ${answer.text.slice(0, 500)}`;
    checkCaching(path, answer, where);
    if (answer.status >= 400) {
      if (method !== 'HEAD') checkProblem(answer, where);
      if (operation !== undefined) checkDeclared(operation.description, answer, where);
      return;
    }
    if (operation === undefined || method === 'HEAD') return;
    const declared = operation.description.responses[answer.status];
    if (declared === undefined) throw new Error(`The OpenAPI document does not know this status: ${where}`);
    const known = new Set(Object.keys(declared.headers ?? {}).map((name) => name.toLowerCase()));
    const others = Object.keys(answer.headers).filter((name) => !known.has(name) && !OF_EVERY_ANSWER.test(name));
    if (others.length > 0)
      throw new Error(`The OpenAPI document does not know the headers ${others.join(', ')}: ${where}`);
    const schema = declared.content?.['application/json']?.schema;
    if (declared.content === undefined && answer.text !== '')
      throw new Error(`A body where none is declared: ${where}`);
    if (schema === undefined) return;
    const validate = this.#compiled(schema);
    if (!validate(answer.body)) {
      throw new Error(`The body does not fit its schema: ${this.#ajv.errorsText(validate.errors)}\n${where}`);
    }
  }

  /** Returns the operation at a path. */
  operationAt(method: string, path: string): DescribedOperation | undefined {
    const asked = (path.split('?')[0] ?? '').split('/');
    const wanted = method === 'HEAD' ? 'GET' : method;
    return this.#places.find(({ operation, segments }) => operation.method === wanted && matches(segments, asked))
      ?.operation;
  }

  #compiled(schema: object): ValidateFunction {
    const known = this.#checks.get(schema);
    if (known !== undefined) return known;
    const validate = this.#ajv.compile(schema);
    this.#checks.set(schema, validate);
    return validate;
  }
}

/** Resolves references on demand, since most test files call a few of some hundred operations. */
class Operation implements DescribedOperation {
  readonly method: string;
  #resolved: OpenApiOperation | undefined;

  constructor(
    method: string,
    readonly path: string,
    private readonly written: OpenApiOperation,
    private readonly references: References,
  ) {
    this.method = method.toUpperCase();
  }

  get description(): OpenApiOperation {
    return (this.#resolved ??= this.references.resolved(this.written));
  }
}

const REFERENCE = /^#\/components\/(?<kind>\w+)\/(?<name>[\w.-]+)$/;

/** Replaces references by their targets. A target that is referred to twice is the same object. */
class References {
  readonly #resolved = new Map<string, object>();

  constructor(private readonly components: Components) {}

  resolved<Value>(value: Value): Value {
    if (Array.isArray(value)) return value.map((each: unknown) => this.resolved(each)) as Value;
    if (typeof value !== 'object' || value === null) return value;
    const { $ref: reference, ...others } = value as { readonly $ref?: unknown };
    if (typeof reference === 'string') {
      const referred = this.#referred(reference);
      return (Object.keys(others).length === 0 ? referred : { ...referred, ...others }) as Value;
    }
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, this.resolved(each as unknown)]),
    ) as Value;
  }

  #referred(reference: string): object {
    const known = this.#resolved.get(reference);
    if (known !== undefined) return known;
    const { kind = '', name = '' } = REFERENCE.exec(reference)?.groups ?? {};
    const component = this.components[kind]?.[name];
    if (component === undefined)
      throw new Error(`The OpenAPI document refers to '${reference}', which it does not have`);
    const resolved = this.resolved(component);
    this.#resolved.set(reference, resolved);
    return resolved;
  }
}

/** Throws unless this is a complete RFC 9457 problem document that reveals no internals. */
export function checkProblem(answer: Answer, where: string): void {
  const problem = answer.body as Record<string, unknown> | undefined;
  const isWhole =
    answer.headers['content-type'] === PROBLEM_TYPE &&
    typeof problem === 'object' &&
    problem['status'] === answer.status &&
    problem['type'] === `/problems/${String(problem['code'])}` &&
    ['code', 'title', 'detail'].every((member) => typeof problem[member] === 'string' && problem[member] !== '');
  if (!isWhole) throw new Error(`Not a problem document: ${where}`);
  if (STACK.test(String(problem['detail']))) throw new Error(`A stack in a problem document: ${where}`);
}

/** Answers that may be kept: files of media stores, and those of the console, which are for everybody. */
const KEPT: ReadonlySet<string | undefined> = new Set(['private, no-cache', 'public, max-age=31536000, immutable']);
const MAY_BE_KEPT = /^\/(?:media\/[^/]+\/[^/]+|console\/assets)\//;

/** Throws if a cache that several callers share may keep the answer, which depends on the key. */
function checkCaching(path: string, { status, headers }: Answer, where: string): void {
  const caching = headers['cache-control'];
  if (caching === 'no-store' || (status < 400 && MAY_BE_KEPT.test(path) && KEPT.has(caching))) return;
  throw new Error(`Cache-Control is ${caching}: ${where}`);
}

/** Throws unless the status is declared, and the code is among those that its description lists. */
function checkDeclared({ responses }: OpenApiOperation, { status, body }: Answer, where: string): void {
  const declared = responses[status];
  if (declared === undefined) throw new Error(`The OpenAPI document does not know this status: ${where}`);
  const code = (body as { readonly code?: string } | undefined)?.code;
  // The answer to HEAD has no body.
  if (code !== undefined && declared.description?.includes(`\`${code}\`: `) !== true)
    throw new Error(`The OpenAPI document does not know this code of the operation: ${where}`);
}

/** A parameter takes at least one character: an empty one is the path of something else, or of nothing. */
function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, position) => (part.startsWith('{') ? segments[position] !== '' : part === segments[position]))
  );
}

function parameterCount(segments: readonly string[]): number {
  return segments.filter((segment) => segment.startsWith('{')).length;
}
