/**
 * Finds the operation of a method and path, in a tree built from the registry. A fixed segment takes precedence over a
 * parameter.
 */
import { BoundedMap } from '../platform/index.js';
import type { HttpMethod, Operation } from '../operations/index.js';
import { decodePathText } from '../operations/index.js';

interface Node {
  readonly fixed: Map<string, Node>;
  parameter: Node | undefined;
  /** Routes that take all following segments, by method. */
  readonly rest: Map<string, Route>;
  /** Routes that end here, by method. */
  readonly routes: Map<string, Route>;
}

interface Route {
  readonly operation: Operation;
  /** Names of the parameters, in the order of the path. */
  readonly parameters: readonly string[];
}

/** A match; shared by all requests with the same method and path. */
interface Found {
  readonly kind: 'operation';
  readonly operation: Operation;
  /** Percent-decoded values; undefined if decoding failed. */
  readonly params: Readonly<Record<string, string | undefined>>;
}

export type Match =
  | Found
  /** The path exists, but not with this method. `allowed`: for the Allow header. */
  | {
      readonly kind: 'other-method';
      readonly allowed: readonly string[];
      /** The operations of the path, one per method; HEAD and OPTIONS have none of their own. */
      readonly operations: readonly Operation[];
    }
  | { readonly kind: 'none' };

const SEGMENTS_MAX = 16;
/** Number of remembered paths per method; the oldest is forgotten first. */
export const REMEMBERED_PATHS_MAX = 1024;
/** Longer paths are not remembered. */
const REMEMBERED_CHARACTERS_MAX = 256;
const NO_MATCH: Match = { kind: 'none' };

export class Router {
  readonly #root = newNode();
  /** Matches by method and path, since searches repeatedly use few paths. A match depends on nothing else. */
  readonly #remembered = new Map<string, BoundedMap<string, Found>>();

  constructor(operations: readonly Operation[]) {
    for (const operation of operations) this.#add(operation);
  }

  /** Finds the operation; `HEAD` counts as `GET`, other methods are in upper case. */
  match(method: string, path: string): Match {
    const wanted = method === 'HEAD' ? 'GET' : method;
    const known = this.#remembered.get(wanted)?.get(path);
    if (known !== undefined) return known;
    const segments = path.split('/');
    if (segments[0] !== '') return NO_MATCH;
    const values: string[] = [];
    const allowed = new Map<string, Operation>();
    const route = find(this.#root, 1, { segments, method: wanted, values, allowed });
    if (route !== undefined) {
      const found: Found = { kind: 'operation', operation: route.operation, params: paramsOf(route, values) };
      this.#remember(wanted, path, found);
      return found;
    }
    if (allowed.size === 0) return NO_MATCH;
    const operations = [...allowed.values()];
    const heads = allowed.has('GET') ? ['HEAD'] : [];
    return { kind: 'other-method', allowed: [...allowed.keys(), ...heads, 'OPTIONS'].sort(), operations };
  }

  #remember(method: string, path: string, found: Found): void {
    if (path.length > REMEMBERED_CHARACTERS_MAX) return;
    let paths = this.#remembered.get(method);
    if (paths === undefined) this.#remembered.set(method, (paths = new BoundedMap(REMEMBERED_PATHS_MAX)));
    paths.set(path, found);
  }

  #add(operation: Operation): void {
    const parameters: string[] = [];
    let node = this.#root;
    const segments = operation.path.split('/').slice(1);
    const rest = operation.takesRest === true ? segments.pop() : undefined;
    for (const segment of segments) {
      if (segment.startsWith('{')) {
        parameters.push(segment.slice(1, -1));
        node = node.parameter ??= newNode();
      } else {
        let next = node.fixed.get(segment);
        if (next === undefined) node.fixed.set(segment, (next = newNode()));
        node = next;
      }
    }
    if (rest !== undefined) parameters.push(rest.slice(1, -1));
    const method: HttpMethod = operation.method;
    const routes = rest === undefined ? node.routes : node.rest;
    const taken = routes.get(method);
    if (taken !== undefined) {
      throw new Error(`${operation.name} and ${taken.operation.name} have the same method and path`);
    }
    routes.set(method, { operation, parameters });
  }
}

function newNode(): Node {
  return { fixed: new Map(), parameter: undefined, rest: new Map(), routes: new Map() };
}

interface SearchedPath {
  readonly segments: readonly string[];
  readonly method: string;
  /** Values of the parameters found so far. */
  readonly values: string[];
  /** Operations at the path with other methods. */
  readonly allowed: Map<string, Operation>;
}

/** Searches depth-first; a branch that ends without the method adds its methods to `allowed`. */
function find(node: Node, position: number, path: SearchedPath): Route | undefined {
  const { segments, method, values, allowed } = path;
  const segment = segments[position];
  if (segment === undefined) return routeOf(node.routes, method, allowed);
  if (node.rest.size > 0 && segment !== '') {
    const route = routeOf(node.rest, method, allowed);
    if (route !== undefined) values.push(segments.slice(position).join('/'));
    return route;
  }
  if (position >= SEGMENTS_MAX) return undefined;
  const fixed = node.fixed.get(segment);
  if (fixed !== undefined) {
    const found = find(fixed, position + 1, path);
    // A fixed segment is not a name: if it has other methods, the parameter is not tried.
    if (found !== undefined || allowed.size > 0) return found;
  }
  if (node.parameter === undefined || segment === '') return undefined;
  values.push(segment);
  const found = find(node.parameter, position + 1, path);
  if (found === undefined) values.pop();
  return found;
}

function routeOf(
  routes: ReadonlyMap<string, Route>,
  method: string,
  allowed: Map<string, Operation>,
): Route | undefined {
  const route = routes.get(method);
  if (route === undefined) for (const [other, { operation }] of routes) allowed.set(other, operation);
  return route;
}

function paramsOf(route: Route, values: readonly string[]): Record<string, string | undefined> {
  const params: Record<string, string | undefined> = {};
  for (const [position, name] of route.parameters.entries()) params[name] = decodePathText(values[position] ?? '');
  return params;
}
