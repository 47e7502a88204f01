import { expect, it } from 'vitest';
import type { AgentTool } from './agent-tool.js';
import { selectedTools } from './tool-selection.js';

const NAMES = ['list_list', 'list_read', 'list_delete', 'search_list', 'search_group'];
const TOOLS = NAMES.map((name) => ({ name, annotations: { readOnlyHint: name !== 'list_delete' } }) as AgentTool);

function selected(names: string | undefined, readOnly = false): string[] {
  return selectedTools(TOOLS, { names, readOnly, givenBy: 'tools' }).map(({ name }) => name);
}

it('chooses tools by their names, a star standing for any characters, in the order of the tools', () => {
  expect(selected(undefined)).toEqual(NAMES);
  expect(selected('search_list, list_read')).toEqual(['list_read', 'search_list']);
  expect(selected('list_*')).toEqual(['list_list', 'list_read', 'list_delete']);
  expect(selected('*_list')).toEqual(['list_list', 'search_list']);
  expect(selected('*_*p,*a*h*l*,list_list')).toEqual(['list_list', 'search_list', 'search_group']);
  expect(selected('*')).toEqual(NAMES);
  expect(selected('list_*', true)).toEqual(['list_list', 'list_read']);
});

it('refuses what no tool has: parts may not overlap, and no other character stands for others', () => {
  for (const pattern of [
    'list_list_list',
    'list*st_list',
    'list_lis?',
    '.*',
    '(list)',
    'LIST_READ',
    'list_list*t_list',
  ]) {
    expect(() => selected(pattern), pattern).toThrow('No tool is called');
  }
  expect(() => selected(' , ')).toThrow('It is empty');
});

it('takes no longer for many stars: a regular expression of these would never end', () => {
  expect(() => selected(`${'*l'.repeat(1000)}*x`)).toThrow('No tool is called');
  expect(selected(`${'*'.repeat(2000)}list_read`)).toEqual(['list_read']);
});
