import { describe, expect, it } from 'vitest';
import { allOperations } from '../../src/main.js';
import { methodsText, pathMeant } from '../../src/http/near-paths.js';

const operations = await allOperations();

describe('an unknown path', () => {
  it.each([
    // The version is missing.
    ['GET', '/search/default/birds', 'GET /search/{account}/{list}/{version}'],
    ['POST', '/search/default/birds', 'POST /search/{account}/{list}/{version}'],
    ['GET', '/suggest/default/birds', 'GET /suggest/{account}/{list}/{version}'],
    ['GET', '/related/default/birds/gannet', 'GET /related/{account}/{list}/{version}/{record}'],
    // There is something in front of it.
    ['GET', '/v1/list/default/birds', 'GET /list/default/birds'],
    ['POST', '/api/search/default/birds/1', 'POST /search/default/birds/1'],
    ['GET', '/api/account', 'GET /account'],
    // It is written differently.
    ['GET', '/lists/default', 'GET /list/default'],
    ['GET', '/list/default/', 'GET /list/default'],
    ['GET', '//list/default', 'GET /list/default'],
    ['GET', '/search_result/default/birds', 'GET /search-result/default/birds'],
    ['POST', '/search-results/default/birds/bulk', 'POST /search-result/default/birds/bulk'],
    ['GET', '/List/default', 'GET /list/default'],
    ['GET', '/helth', 'GET /health'],
    ['DELETE', '/webhoks/default/17', 'DELETE /webhook/default/17'],
  ])('gets a suggestion: %s %s', (method, path, meant) => {
    expect(pathMeant(method, path, operations)).toBe(` Did you mean ${meant}?`);
  });

  it.each(['/', '/nothing/of/this/kind', '/favicon.ico', `/list/${'x/'.repeat(40)}`, `/${'x'.repeat(1000)}`])(
    'gets no suggestion if no path is similar: %s',
    (path) => expect(pathMeant('GET', path, operations)).toBe(''),
  );
});

it('The text about methods says what each method does', () => {
  const ofList = operations.filter(({ path }) => path === '/list/{account}/{list}');
  expect(methodsText(ofList)).toContain('PUT (change settings or fields of a list)');
});
