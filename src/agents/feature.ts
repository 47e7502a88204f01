/** Agent tools as a feature: operations open to keys, by the Model Context Protocol. */
import type { Feature } from '../operations/index.js';
import { AGENT_SETTINGS } from './agent-settings.js';

export const agents: Feature = {
  name: 'agents',
  settings: AGENT_SETTINGS,
  load: async () => (await import('./agent-parts.js')).agentParts,
};
