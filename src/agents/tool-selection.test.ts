import { expect, it } from 'vitest';
import type { AgentTool } from './agent-tool.js';
import { selectedTools } from './tool-selection.js';

const NAMES = ['list_list', 'list_read', 'list_delete', 'search_list', 'search_group'];
const TOOLS = NAMES.map((name) => ({ name, annotations: { readOnlyHint: name !== 'list_delete' } }) as AgentTool);

function selected(names: string | undefined, readOnly = false): string[] {
  return selectedTools(TOOLS, { names, readOnly, givenBy: 'tools' }).map(({ name }) => name);
}

it('selectedTools chooses tools by name, with * for any characters, and keeps the order of the tools', () => {
  expect(selected(undefined)).toEqual(NAMES);
  expect(selected('search_list, list_read')).toEqual(['list_read', 'search_list']);
  expect(selected('list_*')).toEqual(['list_list', 'list_read', 'list_delete']);
  expect(selected('*_list')).toEqual(['list_list', 'search_list']);
  expect(selected('*_*p,*a*h*l*,list_list')).toEqual(['list_list', 'search_list', 'search_group']);
  expect(selected('*')).toEqual(NAMES);
  expect(selected('list_*', true)).toEqual(['list_list', 'list_read']);
});

it('selectedTools refuses patterns without a tool: parts do not overlap, and only * is a wildcard', () => {
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

it('selectedTools takes linear time for many asterisks, for which a regular expression would never end', () => {
  expect(() => selected(`${'*l'.repeat(1000)}*x`)).toThrow('No tool is called');
  expect(selected(`${'*'.repeat(2000)}list_read`)).toEqual(['list_read']);
});
