/** What the example feature declares besides operations: a setting, an environment, an event and a kind of error. */
import { Type } from 'typebox';
import { defineSettings, type EnvironmentFormat, type ProblemKind } from '../../../../src/platform/index.js';

export const ECHO_SETTINGS = defineSettings('echo', {
  text_characters_max: {
    schema: Type.Integer({ minimum: 1, maximum: 100 }),
    default: 50,
    comment: 'Longest text that is said backwards, in characters.',
  },
});

export const ECHO_FORMAT = {
  kind: 'echo',
  number: 2,
  content: 'echoes',
  databases: /^counts$/,
  // The first format counted dozens.
  upgrades: {
    2: (root) => {
      const counts = root.openDB<number, string>({ name: 'counts' });
      for (const { key, value } of counts.getRange()) counts.putSync(key, value * 12);
    },
  },
} as const satisfies EnvironmentFormat;

export const ECHO_EVENTS = { 'echo.said': { description: 'Something was said' } } as const;

export const TOO_LOUD = { code: 'too-loud', status: 422, title: 'That is too loud' } as const satisfies ProblemKind;
