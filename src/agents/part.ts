/** Under which name the operation of agents finds what it counts by. */
import type { Counter } from 'prom-client';
import { serviceKey } from '../platform/index.js';

export interface AgentsPart {
  readonly calls: Counter<'operation' | 'status'>;
}

export const AGENTS = serviceKey<AgentsPart>('agents');
