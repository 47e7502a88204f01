/** Key by which the operation for agents finds its metrics. */
import type { Counter } from 'prom-client';
import { serviceKey } from '../platform/index.js';

export interface AgentsPart {
  readonly calls: Counter<'operation' | 'status'>;
}

export const AGENTS = serviceKey<AgentsPart>('agents');
