/** Agent tools as a feature: the operations that keys may use, by the Model Context Protocol. */
import type { Feature } from '../operations/index.js';
import { AGENT_SETTINGS } from './agent-settings.js';

export const agents: Feature = {
  name: 'agents',
  settings: AGENT_SETTINGS,
  load: async () => (await import('./agent-parts.js')).agentParts,
};
