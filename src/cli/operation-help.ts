/** Help of `gannet call` for operations, derived from the registry. */
import type { TSchema } from 'typebox';
import { agentToolName, firstForm, isAgentTool, isStreamBody, type Operation } from '../operations/index.js';
import { styled, table, type Output } from './output.js';

interface Member {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Member[];
  readonly items?: Member;
  readonly examples?: readonly unknown[];
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, Member>>;
  readonly required?: readonly string[];
}

/** Lists every operation in a line. */
export function operationTable(operations: readonly Operation[]): string {
  const rows = operations.map(({ name, method, path, summary }) => [name, `${method} ${path}`, summary]);
  return table([['OPERATION', 'REQUEST', 'WHAT IT DOES'], ...rows]);
}

/** Describes one operation of `all`: input, requirements and answer. */
export function operationHelp(operation: Operation, all: readonly Operation[], output: Output): string {
  const { name, summary, description, method, path, permission, params, query, body, responses } = operation;
  const heading = (text: string) => `\n${styled(output, 'bold', text)}\n`;
  const section = (title: string, schema: TSchema | undefined) => {
    const rows = memberRows(schema);
    return rows.length === 0 ? '' : `${heading(title)}${table(rows)}`;
  };
  const takesStream = body !== undefined && isStreamBody(body);
  return [
    `${styled(output, 'bold', name)}: ${summary}\n`,
    ...(description === undefined ? [] : [`${description}\n`]),
    `\n${method} ${path}\n`,
    permission === null || permission === 'public' ? '' : `API keys need the permission ${permission}.\n`,
    isAgentTool(operation, all) ? `Name as an agent's tool: ${agentToolName(operation)}\n` : '',
    section('Path parameters (--param name=value)', params),
    section('Options (--param name=value)', query),
    takesStream
      ? `${heading('Body')}A stream of ${body.contentTypes.join(' or ')}: --input FILE, or - for standard input.\n`
      : section('Body (--param name=value, or --body JSON)', body),
    heading('Answers'),
    ...Object.entries(responses).map(([status, response]) => `${status}  ${response.description}\n`),
  ].join('');
}

function memberRows(schema: TSchema | undefined): string[][] {
  const { properties = {}, required = [] } = (firstForm(schema) ?? {}) as ObjectSchema;
  return Object.entries(properties).map(([name, member]) => [
    `  ${name}`,
    typeOf(member),
    required.includes(name) ? 'required' : '',
    member.description ?? '',
  ]);
}

function typeOf({ type, enum: words, const: only, anyOf, items }: Member): string {
  if (words !== undefined) return words.map(String).join('|');
  if (only !== undefined) return JSON.stringify(only);
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeOf))].join('|');
  if (type === 'array' && items !== undefined) return `${typeOf(items)}[]`;
  return type === undefined ? 'any' : [type].flat().join('|');
}
