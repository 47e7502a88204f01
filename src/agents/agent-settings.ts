/** `[agents]` of the settings. */
import { Type } from 'typebox';
import { defineSettings } from '../platform/index.js';

export const AGENT_SETTINGS = defineSettings('agents', {
  answer_bytes_max: {
    schema: Type.Integer({ minimum: 1024, maximum: 16_777_216 }),
    default: 200_000,
    comment:
      'Longest answer of a tool for agents, in bytes. A longer one becomes an error that says how to ask for less.',
  },
});
