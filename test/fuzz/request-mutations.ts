/**
 * Makes malformed requests from the operations of an OpenAPI document: each is wrong in one way, which the
 * operation's own schemas prove. Deterministic for a seed.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parseExactJson } from '../../src/platform/index.js';
import type { DescribedOperation } from '../support/answer-checker.js';
import type { RequestOptions } from '../support/client.js';
import type { SeededRandom } from '../support/random.js';
import { BAD_ENCODINGS, BAD_NAMES, BAD_SEARCH, METHODS, STRANGE, WRONG_TYPES } from './bad-values.js';

export interface MalformedRequest {
  /** What is wrong, for the message of a failure. */
  readonly kind: string;
  readonly method: string;
  readonly path: string;
  readonly options: RequestOptions;
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
}
type Schema = ObjectSchema & Readonly<Record<string, unknown>>;

type Mutation = (operation: DescribedOperation) => MalformedRequest | undefined;

const JSON_TYPE = 'application/json';
const DIGITS = `1${'0'.repeat(400)}`;

export class RequestMutator {
  readonly #random: SeededRandom;
  readonly #operations: readonly DescribedOperation[];
  readonly #place: Readonly<Record<string, string>>;
  readonly #ajv = new Ajv2020({ strict: false });
  readonly #checks = new Map<object, ValidateFunction>();
  readonly #mutations: readonly Mutation[];

  /** `place` has names that exist, for parameters of paths. */
  constructor(
    operations: readonly DescribedOperation[],
    place: Readonly<Record<string, string>>,
    random: SeededRandom,
  ) {
    addFormats.default(this.#ajv);
    this.#operations = operations;
    this.#place = place;
    this.#random = random;
    this.#mutations = [
      (operation) => this.#wrongBody(operation),
      (operation) => this.#wrongMember(operation),
      (operation) => this.#unknownMember(operation),
      (operation) => this.#missingMember(operation),
      (operation) => this.#brokenJson(operation),
      (operation) => this.#brokenText(operation),
      (operation) => this.#wrongContentType(operation),
      (operation) => this.#bodyOrNone(operation),
      (operation) => this.#unknownOption(operation),
      (operation) => this.#wrongOption(operation),
      (operation) => this.#brokenQuery(operation),
      (operation) => this.#wrongName(operation),
      (operation) => this.#wrongMethod(operation),
      (operation) => this.#wrongPath(operation),
      (operation) => this.#wrongKey(operation),
      (operation) => this.#wrongSearch(operation),
    ];
  }

  next(): MalformedRequest {
    for (;;) {
      const made = this.#random.pick(this.#mutations)(this.#random.pick(this.#operations));
      if (made !== undefined) return made;
    }
  }

  /** Makes a body of another type than the schema requires. */
  #wrongBody(operation: DescribedOperation): MalformedRequest | undefined {
    const schema = bodySchema(operation);
    if (schema === undefined) return undefined;
    const body = this.#random.pick(STRANGE);
    return this.#fits(schema, body) ? undefined : this.#request('wrong body', operation, { json: body });
  }

  #wrongMember(operation: DescribedOperation): MalformedRequest | undefined {
    const schema = bodySchema(operation);
    const names = Object.keys(schema?.properties ?? {});
    if (schema === undefined || names.length === 0) return undefined;
    const body = { ...this.#goodBody(schema), [this.#random.pick(names)]: this.#random.pick(STRANGE) };
    if (this.#fits(schema, body)) return undefined;
    const number = this.#random.pick(['1e999', DIGITS, '-1e400']);
    const huge = JSON.stringify(body).replace('1e+308', number);
    // The service reads such an integer as the text of its digits (exact-json.ts), which members for text take.
    if (number === DIGITS && this.#fits(schema, parseExactJson(huge))) return undefined;
    return this.#request('wrong member', operation, { bytes: huge, headers: { 'Content-Type': JSON_TYPE } });
  }

  #unknownMember(operation: DescribedOperation): MalformedRequest | undefined {
    const schema = bodySchema(operation);
    if (schema?.additionalProperties !== false) return undefined;
    const name = this.#misspelt(Object.keys(schema.properties ?? {}));
    if (name in (schema.properties ?? {})) return undefined;
    const body = Object.fromEntries([...Object.entries(this.#goodBody(schema)), [name, 1]]);
    return this.#request('unknown member', operation, { json: body });
  }

  #missingMember(operation: DescribedOperation): MalformedRequest | undefined {
    const schema = bodySchema(operation);
    if (schema?.required === undefined || schema.required.length === 0) return undefined;
    const body: Record<string, unknown> = this.#goodBody(schema);
    delete body[this.#random.pick(schema.required)];
    return this.#request('missing member', operation, { json: body });
  }

  #brokenJson(operation: DescribedOperation): MalformedRequest | undefined {
    const schema = bodySchema(operation);
    if (schema === undefined) return undefined;
    const good = JSON.stringify({ ...this.#goodBody(schema), padding: 'x'.repeat(this.#random.below(100)) });
    const cut = 1 + this.#random.below(good.length - 1);
    const broken = this.#random.pick([
      good.slice(0, cut),
      `${good}}`,
      good.replace(':', ''),
      `${'['.repeat(50_000)}`,
      `{"a":`.repeat(20_000),
      "{'name':'a'}",
      '{"name":"\u0001"}',
      '{"name":"\\x41"}',
      '{"a":01}',
      '{"a":NaN}',
      '\ufeff{}x',
    ]);
    return this.#request('broken JSON', operation, { bytes: broken, headers: { 'Content-Type': JSON_TYPE } });
  }

  #brokenText(operation: DescribedOperation): MalformedRequest | undefined {
    if (bodySchema(operation) === undefined) return undefined;
    const bytes = Buffer.from([0x7b, 0x22, this.#random.pick([0xff, 0xc0, 0xed, 0xf5, 0x80]), 0x22, 0x3a, 0x31, 0x7d]);
    return this.#request('broken UTF-8', operation, { bytes, headers: { 'Content-Type': JSON_TYPE } });
  }

  #wrongContentType(operation: DescribedOperation): MalformedRequest | undefined {
    if (operation.description.requestBody === undefined) return undefined;
    const type = this.#random.pick(WRONG_TYPES);
    return this.#request('wrong content type', operation, { bytes: '{"a":1}', headers: { 'Content-Type': type } });
  }

  #bodyOrNone(operation: DescribedOperation): MalformedRequest | undefined {
    const content = operation.description.requestBody?.content;
    if (content === undefined) {
      return this.#request('a body where none belongs', operation, {
        bytes: '{"a":1}',
        headers: { 'Content-Type': JSON_TYPE },
      });
    }
    if (bodySchema(operation) === undefined) return undefined;
    return this.#request('no body', operation, { headers: { 'Content-Type': JSON_TYPE } });
  }

  #unknownOption(operation: DescribedOperation): MalformedRequest | undefined {
    const known = queryParameters(operation).map(({ name }) => name);
    const name = this.#misspelt(known);
    if (known.includes(name)) return undefined;
    return this.#request('unknown option', operation, this.#goodContent(operation), `${encodeURIComponent(name)}=1`);
  }

  #wrongOption(operation: DescribedOperation): MalformedRequest | undefined {
    const parameters = queryParameters(operation);
    if (parameters.length === 0) return undefined;
    const { name, schema } = this.#random.pick(parameters);
    const value = this.#random.pick([
      '',
      'x',
      '-1',
      '1.5',
      '99999999999999999999',
      '1e999',
      'NaN',
      'true ',
      '\u0000',
      'a'.repeat(5000),
    ]);
    const asTyped: readonly unknown[] = [value, Number(value), value.toLowerCase() === 'true'];
    if (asTyped.some((typed) => this.#fits(schema, typed))) return undefined;
    return this.#request('wrong option', operation, {}, `${name}=${encodeURIComponent(value)}`);
  }

  #brokenQuery(operation: DescribedOperation): MalformedRequest | undefined {
    const [first] = queryParameters(operation);
    const name = first?.name ?? 'x';
    const query = this.#random.pick([
      ...BAD_ENCODINGS.map((bad) => `${name}=${bad}`),
      ...BAD_ENCODINGS.map((bad) => `${bad}=1`),
      `${name}=1&${name}=1`,
      '__proto__=1',
    ]);
    return this.#request('broken query', operation, this.#goodContent(operation), query);
  }

  #wrongName(operation: DescribedOperation): MalformedRequest | undefined {
    const names = [...operation.path.matchAll(/\{(\w+)\}/g)]
      .map((match) => match[1] ?? '')
      .filter((name) => name !== 'name');
    if (names.length === 0) return undefined;
    const wrong = this.#random.pick(names);
    const text = this.#random.pick([...BAD_NAMES.map(encodeURIComponent), ...BAD_ENCODINGS]);
    return this.#request('wrong name', operation, this.#goodContent(operation), '', { [wrong]: text });
  }

  #wrongMethod(operation: DescribedOperation): MalformedRequest | undefined {
    const path = this.#pathOf(operation);
    const method = this.#random.pick(METHODS);
    const isTaken = this.#operations.some((other) => other.method === method && samePlace(other.path, path));
    return isTaken ? undefined : { kind: 'wrong method', method, path, options: {} };
  }

  #wrongPath(operation: DescribedOperation): MalformedRequest {
    const path = this.#pathOf(operation);
    const wrong = this.#random.pick([
      `${path}/more/and/more/and/more`,
      `/x${path}`,
      `${path}//`,
      '/list',
      '/search',
      '//',
      `/${'a/'.repeat(1000)}`,
    ]);
    return { kind: 'wrong path', method: operation.method, path: wrong, options: {} };
  }

  #wrongKey(operation: DescribedOperation): MalformedRequest | undefined {
    if (operation.description.security.length === 0) return undefined;
    const key = this.#random.pick([
      '',
      'x',
      'gnt_eu_',
      `gnt_eu_${'A'.repeat(43)}`,
      'k'.repeat(3000),
      'gnt_eu_\u00e9\u00ff',
    ]);
    return this.#request('wrong key', operation, {
      ...this.#goodContent(operation),
      headers: { 'X-API-Key': key, 'Content-Type': JSON_TYPE },
    });
  }

  #wrongSearch(operation: DescribedOperation): MalformedRequest | undefined {
    if (!operation.path.startsWith('/search/')) return undefined;
    const [name, value] = this.#random.pick(BAD_SEARCH);
    if (operation.method === 'POST') return this.#request('wrong search', operation, { json: { [name]: value } });
    return this.#request('wrong search', operation, {}, `${name}=${encodeURIComponent(value)}`);
  }

  #request(
    kind: string,
    operation: DescribedOperation,
    options: RequestOptions,
    query = '',
    parameters = {},
  ): MalformedRequest {
    const path = this.#pathOf(operation, parameters);
    return { kind, method: operation.method, path: query === '' ? path : `${path}?${query}`, options };
  }

  #pathOf(operation: DescribedOperation, parameters: Readonly<Record<string, string>> = {}): string {
    return operation.path.replace(/\{(\w+)\}/g, (_whole, name: string) => parameters[name] ?? this.#place[name] ?? 'x');
  }

  /** Returns a body with the required members, each with a value that fits or nearly fits. */
  #goodBody(schema: Schema): Record<string, unknown> {
    const members = (schema.required ?? []).map(
      (name) => [name, this.#goodValue(schema.properties?.[name] ?? {})] as const,
    );
    return Object.fromEntries(members);
  }

  #goodValue(schema: Schema): unknown {
    const examples = schema['examples'] as readonly unknown[] | undefined;
    if (examples !== undefined && examples.length > 0) return examples[0];
    const values = schema['enum'] as readonly unknown[] | undefined;
    return values?.[0] ?? 'x';
  }

  #goodContent(operation: DescribedOperation): RequestOptions {
    const schema = bodySchema(operation);
    return schema === undefined ? {} : { json: this.#goodBody(schema) };
  }

  /** Returns a known name with a letter changed, or one that causes trouble in JavaScript. */
  #misspelt(known: readonly string[]): string {
    if (known.length === 0 || this.#random.below(4) === 0) {
      return this.#random.pick([
        '__proto__',
        'constructor',
        'toString',
        'hasOwnProperty',
        'x',
        '',
        '\u0000',
        'a'.repeat(3000),
      ]);
    }
    const name = this.#random.pick(known);
    const position = this.#random.below(name.length);
    return name.slice(0, position) + this.#random.pick(['', 'x', '_', 'E', ' ']) + name.slice(position + 1);
  }

  #fits(schema: Schema, value: unknown): boolean {
    let check = this.#checks.get(schema);
    if (check === undefined) this.#checks.set(schema, (check = this.#ajv.compile(schema)));
    // Checked as it will arrive: undefined members are missing, NaN is null.
    return check(JSON.parse(JSON.stringify(value) ?? 'null')) === true;
  }
}

function bodySchema(operation: DescribedOperation): Schema | undefined {
  const content = operation.description.requestBody?.content ?? {};
  // A streamed body has several types and no schema.
  return Object.keys(content).length === 1 ? content[JSON_TYPE]?.schema : undefined;
}

function queryParameters(operation: DescribedOperation) {
  return (operation.description.parameters ?? []).filter((parameter) => parameter.in === 'query');
}

function samePlace(pattern: string, path: string): boolean {
  const [a, b] = [pattern.split('/'), path.split('/')];
  return a.length === b.length && a.every((part, position) => part.startsWith('{') || part === b[position]);
}
