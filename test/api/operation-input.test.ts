import { describe, expect, it } from 'vitest';
import { allOperations } from '../../src/main.js';
import { isStreamBody, placesOf, type Operation } from '../../src/operations/index.js';
import { operationHelp, operationTable } from '../../src/cli/operation-help.js';
import { operationInput } from '../../src/cli/operation-input.js';
import { CommandError } from '../../src/cli/exit-codes.js';

const operations = await allOperations();

const output = {
  isTerminal: false,
  columns: 80,
  write: () => undefined,
  note: () => undefined,
  settle: () => Promise.resolve(),
};
const nothing = {
  params: [],
  body: undefined,
  stream: undefined,
  contentType: undefined,
  account: 'default',
  isAccountGiven: false,
};
const named = (name: string) => operations.find((operation) => operation.name === name) as Operation;

describe.each(operations.map((operation) => [operation.name, operation] as const))(
  'gannet call %s',
  (_name, operation) => {
    it('lists the operation, and its help has all members and statuses', () => {
      const help = operationHelp(operation, [operation], output);
      expect(operationTable(operations)).toContain(operation.name);
      for (const member of placesOf(operation).keys()) expect(help).toMatch(new RegExp(`^ {2}${member} `, 'm'));
      for (const status of Object.keys(operation.responses)) expect(help).toContain(`\n${status}  `);
    });

    it('takes each parameter of the path, and says which are missing', () => {
      const names = Object.keys((operation.params as { properties?: object }).properties ?? {});
      const params = names.map((name) => `${name}=some=${name}`);
      const input = operationInput(operation, { ...nothing, params });
      expect(input.params).toEqual(Object.fromEntries(names.map((name) => [name, `some=${name}`])));
      const needed = names.filter((name) => name !== 'account');
      if (needed.length === 0) expect(operationInput(operation, nothing).params).toBeDefined();
      else expect(() => operationInput(operation, nothing)).toThrow(`--param ${needed[0] ?? ''}=…`);
    });

    it('refuses unknown parameters, and bodies of the wrong kind', () => {
      expect(() => operationInput(operation, { ...nothing, params: ['no-such=1'] })).toThrow(CommandError);
      if (operation.body === undefined) {
        expect(() => operationInput(operation, { ...nothing, body: '{}' })).toThrow('takes no body');
      } else if (!isStreamBody(operation.body)) {
        expect(() => operationInput(operation, { ...nothing, body: '[' })).toThrow('not JSON');
        expect(() => operationInput(operation, { ...nothing, body: '[1]' })).toThrow('JSON object');
      }
    });
  },
);

it('gannet call reads members of a body as their schemas ask', () => {
  const given = [
    'list=films',
    'version=1',
    'query=1984',
    'size=5',
    'cache=false',
    'facets=year,genre',
    'radius={"latitude":1,"longitude":2,"distance":3}',
  ];
  expect(operationInput(named('search.list'), { ...nothing, params: given })).toMatchObject({
    params: { account: 'default', list: 'films', version: '1' },
    body: { query: '1984', size: 5, cache: false, radius: { latitude: 1, longitude: 2, distance: 3 } },
  });
  expect(() => operationInput(named('list.read'), { ...nothing, params: ['list'] })).toThrow('of the form name=value');
  expect(() => operationInput(named('list.read'), { ...nothing, params: ['list=a', 'list=b'] })).toThrow('twice');
});
