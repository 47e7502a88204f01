/** Converts an operation and a call's input into an HTTP request: path, query string, headers. */
import type { Operation } from '../operations/index.js';
import { CommandError } from './exit-codes.js';
import type { OperationRoute } from './operation-routes.js';
import { isProblem, ProblemError } from './problem.js';
import type { CallInput } from './service-client.js';

export function operationNamed(operations: readonly Operation[], name: string): Operation {
  const operation = operations.find((candidate) => candidate.name === name);
  if (operation === undefined) throw new Error(`The registry has no operation ${name}`);
  return operation;
}

/** Returns the path with its parameters, and the query string without `?`. */
export function requestTarget(
  operation: OperationRoute,
  input: CallInput,
): { readonly path: string; readonly query: string } {
  const path = operation.path.replace(/\{([^}]+)\}/g, (_whole, name: string) => {
    const value = input.params?.[name];
    if (value === undefined) throw new Error(`${operation.name} needs the parameter ${name}`);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams(
    Object.entries(input.query ?? {}).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return { path, query: query.toString() };
}

/** Returns the parsed body of a successful answer. Throws a ProblemError for a problem document. */
export function readAnswer(status: number, body: Uint8Array): unknown {
  const text = Buffer.from(body).toString('utf8');
  let value: unknown;
  try {
    value = text === '' ? undefined : (JSON.parse(text) as unknown);
  } catch {
    value = text;
  }
  if (status < 400) return value;
  if (isProblem(value)) throw new ProblemError(value);
  throw new CommandError(`The service answered ${status}: ${text.slice(0, 200)}`);
}
