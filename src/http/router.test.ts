import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { defineOperation, type HttpMethod } from '../operations/index.js';
import { REMEMBERED_PATHS_MAX, Router } from './router.js';

const operation = (method: HttpMethod, path: string, takesRest?: true) =>
  defineOperation({
    ...(takesRest === undefined ? {} : { takesRest }),
    name: `${method} ${path}`,
    summary: '',
    method,
    path,
    permission: null,
    callers: ['key'],
    target: 'none',
    params: Type.Object({}),
    responses: {},
    handle: () => ({ status: 200 }),
  });

const router = new Router([
  operation('GET', '/account'),
  operation('GET', '/search/{account}/{list}/{version}'),
  operation('POST', '/search/{account}/{list}/{version}'),
  operation('GET', '/search/group/{account}/{group}/{version}'),
  operation('GET', '/search-result/{account}/{list}/{id}'),
  operation('POST', '/search-result/{account}/{list}/bulk'),
  operation('GET', '/media/{account}/{store}'),
  operation('PUT', '/media/{account}/{store}/{path}', true),
]);

function found(method: string, path: string): unknown {
  const match = router.match(method, path);
  if (match.kind === 'operation') return [match.operation.name, match.params];
  return match.kind === 'other-method' ? match.allowed : undefined;
}

describe('Router', () => {
  it('passes the rest of the path, slashes included, to an operation that takes it', () => {
    const long = Array.from({ length: 40 }, (_, number) => `part%20${number}`).join('/');
    for (const path of ['a', 'a/b', 'a//b', 'a/', '..%2F..', long]) {
      const params = { account: 'x', store: 'y', path: decodeURIComponent(path) };
      expect(found('PUT', `/media/x/y/${path}`)).toEqual(['PUT /media/{account}/{store}/{path}', params]);
    }
    expect(found('GET', '/media/x/y')).toEqual(['GET /media/{account}/{store}', { account: 'x', store: 'y' }]);
    expect(found('GET', '/media/x/y/a/b')).toEqual(['OPTIONS', 'PUT']);
    expect(found('PUT', '/media/x/y/')).toBeUndefined();
  });

  it('finds operations and their decoded parameters', () => {
    expect(found('GET', '/account')).toEqual(['GET /account', {}]);
    expect(found('POST', '/search/a/l%20x/2')).toEqual([
      'POST /search/{account}/{list}/{version}',
      { account: 'a', list: 'l x', version: '2' },
    ]);
    expect(found('GET', '/search/a/%ff/2')).toEqual([
      'GET /search/{account}/{list}/{version}',
      { account: 'a', list: undefined, version: '2' },
    ]);
  });

  it('prefers a fixed segment to a parameter, and falls back to the parameter if the fixed one leads nowhere', () => {
    expect(found('GET', '/search/group/a/g/1')).toEqual([
      'GET /search/group/{account}/{group}/{version}',
      { account: 'a', group: 'g', version: '1' },
    ]);
    expect(found('GET', '/search/group/l/1')).toEqual([
      'GET /search/{account}/{list}/{version}',
      { account: 'group', list: 'l', version: '1' },
    ]);
  });

  it('never reads a fixed segment as a parameter, even if it only has other methods', () => {
    expect(found('GET', '/search-result/a/l/bulk')).toEqual(['OPTIONS', 'POST']);
  });

  it('serves HEAD wherever there is GET, and names the methods of a path', () => {
    expect(found('HEAD', '/account')).toEqual(['GET /account', {}]);
    expect(found('DELETE', '/account')).toEqual(['GET', 'HEAD', 'OPTIONS']);
    expect(found('HEAD', '/nothing')).toBeUndefined();
    expect(found('PUT', '/search-result/a/l/bulk')).toEqual(['OPTIONS', 'POST']);
  });

  it.each([
    '',
    '/',
    '//',
    'account',
    '/account/',
    '/search//l/1',
    '/__proto__',
    '/constructor',
    `/${'a/'.repeat(5000)}`,
  ])('finds nothing for the path %.30s', (path) => expect(found('GET', path)).toBeUndefined());

  it('refuses two operations with the same method and path', () => {
    expect(() => new Router([operation('GET', '/a/{x}'), operation('GET', '/a/{y}')])).toThrow('same method and path');
  });

  it('finds a remembered path again, for the same method only', () => {
    const path = '/search/a/l/1';
    const get = router.match('GET', path);
    expect(router.match('GET', path)).toBe(get);
    expect(router.match('HEAD', path)).toBe(get);
    expect(found('POST', path)).toEqual([
      'POST /search/{account}/{list}/{version}',
      { account: 'a', list: 'l', version: '1' },
    ]);
    expect(found('DELETE', path)).toEqual(['GET', 'HEAD', 'OPTIONS', 'POST']);
    expect(found('POST', '/account')).toEqual(['GET', 'HEAD', 'OPTIONS']);
  });

  it('remembers a limited number of paths, and no long ones', () => {
    const fresh = new Router([operation('GET', '/search/{account}/{list}/{version}')]);
    const first = fresh.match('GET', '/search/a/l/0');
    const pathOf = (index: number) => `/search/a/l/${index}`;
    for (let index = 1; index < REMEMBERED_PATHS_MAX; ++index) fresh.match('GET', pathOf(index));
    expect(fresh.match('GET', pathOf(0))).toBe(first);
    fresh.match('GET', pathOf(REMEMBERED_PATHS_MAX));
    const again = fresh.match('GET', pathOf(0));
    expect(again).not.toBe(first);
    expect(again).toEqual(first);
    const long = `/search/a/l/${'1'.repeat(300)}`;
    expect(fresh.match('GET', long)).toEqual(fresh.match('GET', long));
    expect(fresh.match('GET', long)).not.toBe(fresh.match('GET', long));
  });
});
