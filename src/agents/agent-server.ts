/**
 * Server of the Model Context Protocol, by its official library: one per request over HTTP, one per connection over
 * standard input and output. It keeps no state between calls.
 */
import { ProtocolError, ProtocolErrorCode, Server, type CallToolResult } from '@modelcontextprotocol/server';
import { didYouMeanName, ERROR_VALUE_CHARACTERS_MAX, packageVersion, toldText } from '../platform/index.js';
import type { AgentTool } from './agent-tool.js';
import type { Arguments } from './tool-input.js';

// Exported from here, so that the library is loaded only once: a dynamic import elsewhere would load it a second time,
// as ES modules.
export { createMcpHandler } from '@modelcontextprotocol/server';

export interface AgentHost {
  /** Tools that the connected agent may use. */
  readonly tools: readonly AgentTool[];
  /** Sentence about the part of the account that is accessible. Undefined for all of it. */
  readonly reach?: string;
  /** Calls a tool. Never rejects for errors that the agent can correct. */
  call(tool: AgentTool, given: Arguments, signal: AbortSignal): Promise<CallToolResult>;
}

/** Returns the instructions that an agent reads before its first call. */
function instructionsOf({ tools, reach = '' }: AgentHost): string {
  const has = (name: string) => tools.some((tool) => tool.name === name);
  return [
    'Gannet keeps lists of records and searches them.',
    has('list_list') ? 'list_list names the lists.' : '',
    has('list_read') ? 'list_read tells the fields of a list.' : '',
    'search_list searches one by words (typos are forgiven) and, where it has a model, by meaning.',
    `Filters are texts such as "family = 'Sulidae' and wingspan_cm > 100"; only facets can be filtered and sorted by.`,
    'Answers are JSON; errors say what was expected.',
    reach,
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
}

export function createAgentServer(host: AgentHost): Server {
  const { tools } = host;
  const server = new Server(
    { name: 'gannet', title: 'Gannet', version: packageVersion() },
    { capabilities: { tools: {} }, instructions: instructionsOf(host) },
  );
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  server.setRequestHandler('tools/list', () => ({
    tools: tools.map(({ name, title, description, inputSchema, annotations }) => ({
      name,
      title,
      description,
      inputSchema,
      annotations,
    })),
  }));
  server.setRequestHandler('tools/call', ({ params: { name, arguments: given = {} } }, { mcpReq: { signal } }) => {
    const tool = byName.get(name);
    if (tool === undefined) {
      const hint = didYouMeanName(name, byName.keys());
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `There is no tool '${toldText(name, ERROR_VALUE_CHARACTERS_MAX)}', or the key may not use it.${hint}`,
      );
    }
    return host.call(tool, given, signal);
  });
  return server;
}
